import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isKnownOptimizer, optimizerNeeds } from "../../../server/src/memory/optimizers";
import type { TrainedTensor } from "../../../server/src/memory/optimizer-steps";
import type { Dtype } from "../../../server/src/memory/tensor";

interface Figures {
  state_bytes: number;
  scalar_state_bytes: number;
  temporary_bytes?: number;
  error?: string;
}

interface Entry {
  optimizer: string;
  arguments: Record<string, number | boolean | string>;
  foreach?: Record<string, Figures>;
  fused?: Record<string, Figures>;
  single?: Record<string, Figures>;
  default?: Record<string, Figures>;
  "bf16 parameters, foreach"?: Figures;
}

const goldens = JSON.parse(readFileSync(join(__dirname, "../../goldens/optimizers.json"), "utf8")) as {
  optimizers: Record<string, Entry>;
};

/** The two sets of parameters that were measured: measure_optimizers.py, `parameters`. */
function layout(name: string, optimizer: string, dtype: Dtype = "float32"): TrainedTensor[] {
  const many = (count: number, shape: number[]): TrainedTensor[] =>
    Array.from({ length: count }, () => ({ shape, dtype }));
  if (name === "equal") return many(16, [128, 128]);
  return [...many(1, [256, 256]), ...many(15, [32, 32]), ...(optimizer === "Muon" ? [] : many(16, [32]))];
}

interface OptionsCase {
  optimizer: string;
  arguments: Record<string, number | boolean>;
  kernel: "foreach" | "fused" | "single";
}

const swept = JSON.parse(readFileSync(join(__dirname, "../../goldens/optimizer_options.json"), "utf8")) as {
  layouts: Record<string, [number[], Dtype][]>;
  cases: (OptionsCase & Record<string, [state: number, temporary: number] | undefined>)[];
};

/** Bytes of single numbers among a step's temporaries, which are left out. */
const scalars = 32;

/** Histories grow while they are not full: three steps had been taken. */
const unsettled = new Set(["LBFGS", "SparseAdam"]);
const kernels = ["foreach", "fused", "single"] as const;

describe("optimizers", () => {
  for (const [label, entry] of Object.entries(goldens.optimizers)) {
    if (unsettled.has(entry.optimizer)) continue;
    for (const kernel of kernels) {
      const measured = entry[kernel];
      if (measured === undefined || "error" in measured) continue;
      for (const [name, figures] of Object.entries(measured)) {
        it(`${label}, ${kernel}, ${name} parameters`, () => {
          const options = { ...entry.arguments, foreach: kernel === "foreach", fused: kernel === "fused" };
          const needs = optimizerNeeds({ name: entry.optimizer, options }, layout(name, entry.optimizer));
          assert.equal(needs?.kernel, kernel);
          const isOnDevice = kernel === "fused" || entry.optimizer === "ASGD";
          assert.equal(needs.state, figures.state_bytes + (isOnDevice ? figures.scalar_state_bytes : 0));
          assert.ok(
            Math.abs(needs.temporary - (figures.temporary_bytes ?? 0)) <= scalars,
            `${needs.temporary} instead of ${figures.temporary_bytes}`,
          );
        });
      }
    }
    const half = entry["bf16 parameters, foreach"];
    if (half !== undefined && half.error === undefined) {
      it(`${label}, bf16 parameters: the state has the parameters' dtype`, () => {
        const needs = optimizerNeeds(
          { name: entry.optimizer, options: entry.arguments },
          layout("equal", entry.optimizer, "bfloat16"),
          "cpu",
        );
        assert.equal(needs?.state, half.state_bytes);
      });
    }
  }

  for (const entry of swept.cases) {
    const { optimizer, kernel, arguments: given } = entry;
    it(`${optimizer} ${JSON.stringify(given)}, ${kernel}, parameters of several sizes, dtypes and ranks`, () => {
      const options = { ...given, foreach: kernel === "foreach", fused: kernel === "fused" };
      for (const [name, tensors] of Object.entries(swept.layouts)) {
        const measured = entry[name];
        if (measured === undefined) continue;
        const [state, temporary] = measured;
        const parameters = tensors.map(([shape, dtype]) => ({ shape, dtype }));
        const needs = optimizerNeeds({ name: optimizer, options }, parameters);
        assert.equal(needs?.state, state, name);
        assert.ok(
          Math.abs(needs.temporary - temporary) <= scalars,
          `${name}: ${needs.temporary} instead of ${temporary}`,
        );
      }
    });
  }

  it("finds an optimizer by class, by the header's name, and by its library's spelling", () => {
    for (const name of [
      "torch.optim.AdamW",
      "adamw",
      "sgd-momentum",
      "paged_adamw8bit",
      "bitsandbytes.optim.Adam8bit",
    ]) {
      assert.ok(isKnownOptimizer(name), name);
    }
    assert.ok(!isKnownOptimizer("ranger21"));
  });

  it("keeps one momentum for sgd-momentum and none for sgd", () => {
    const parameters = layout("equal", "SGD");
    assert.equal(
      optimizerNeeds({ name: "sgd-momentum", options: {} }, parameters)?.state,
      16 * 128 * 128 * 4,
    );
    assert.equal(optimizerNeeds({ name: "sgd", options: {} }, parameters)?.state, 0);
  });

  it("keeps 8-bit moments with a scale for each block, and 32-bit ones for small tensors", () => {
    const large: TrainedTensor = { shape: [1024, 1024], dtype: "float32" };
    const small: TrainedTensor = { shape: [64], dtype: "float32" };
    const needs = optimizerNeeds({ name: "adamw8bit", options: {} }, [large, small]);
    assert.equal(needs?.state, 2 * (1024 * 1024 + 4 * 4096) + 2 * 4 * 64);
  });

  it("takes the foreach kernels on CUDA and the loop on the CPU unless told otherwise", () => {
    const parameters = layout("equal", "Adam");
    const kernel = (options: Record<string, boolean>, device: "cuda" | "cpu"): string | undefined =>
      optimizerNeeds({ name: "Adam", options }, parameters, device)?.kernel;
    assert.equal(kernel({}, "cuda"), "foreach");
    assert.equal(kernel({}, "cpu"), "single");
    assert.equal(kernel({ fused: true }, "cuda"), "fused");
    assert.equal(kernel({ foreach: false }, "cuda"), "single");
  });
});
