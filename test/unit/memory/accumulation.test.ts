/** Gradients that wait for the optimizer's step: later micro-batches against real PyTorch. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { goldenModels, runGolden } from "../../support/goldens";
import { loadParser } from "../../support/parser";

interface Accumulated {
  readonly batch: number;
  readonly models: Readonly<
    Record<
      string,
      {
        readonly forward_peak: number;
        readonly backward_peak: number;
        readonly live_after_backward: number;
        readonly gradient_bytes: number;
      }
    >
  >;
}

const measured = JSON.parse(
  readFileSync(path.join(__dirname, "../../goldens/accumulation.json"), "utf8"),
) as Accumulated;

describe("a later micro-batch", () => {
  before(loadParser);

  for (const [file, expected] of Object.entries(measured.models)) {
    it(`of ${file} needs what PyTorch needs`, () => {
      const golden = goldenModels().find((one) => one.file === file);
      assert.ok(golden !== undefined);
      const run = { device: "cpu", precision: "fp32", batch: measured.batch, saved: null } as const;
      const measure = runGolden(golden, run, true);
      assert.deepEqual(
        {
          forward_peak: measure.forward.live,
          backward_peak: measure.backward?.live,
          live_after_backward: measure.liveAfterBackward,
          gradient_bytes: measure.gradients,
        },
        expected,
      );
      const first = runGolden(golden, run);
      assert.ok(first.forward.live < measure.forward.live, "the first has no gradients in its forward");
    });
  }
});
