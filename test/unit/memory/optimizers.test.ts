import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isKnownOptimizer, optimizerNeeds, type TrainedTensor } from "../../../server/src/memory/optimizers";
import type { Dtype } from "../../../server/src/memory/tensor";

interface Figures {
  state_bytes: number;
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
          assert.equal(needs.state, figures.state_bytes);
          // Left out: scalars of 4 bytes each, and Adafactor's and Rprop's small vectors (2 % of the largest tensor).
          const tolerance = ["Adafactor", "Rprop"].includes(entry.optimizer) ? 0.02 * 262_144 : 12;
          assert.ok(
            Math.abs(needs.temporary - (figures.temporary_bytes ?? 0)) <= tolerance,
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
        );
        assert.equal(needs?.state, half.state_bytes);
      });
    }
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
