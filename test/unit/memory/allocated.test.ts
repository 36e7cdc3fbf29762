/** What losses, folds and unfolds hold and keep, against the allocator's events of real PyTorch on the CPU. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadParser } from "../../support/parser";
import { runCall } from "../../support/operators";

interface CallGolden {
  readonly call: string;
  readonly inputs: string[];
  readonly forward: number;
  readonly kept: number;
  readonly result: number;
  readonly backward?: number;
}

const { calls } = JSON.parse(readFileSync(join(__dirname, "../../goldens/allocated.json"), "utf8")) as {
  calls: CallGolden[];
};

/** Scalars that reductions of the CPU allocate on their way. */
const scalars = 32;

function assertClose(actual: number | undefined, golden: number | undefined, what: string): void {
  const difference = (golden ?? 0) - (actual ?? 0);
  assert.ok(Math.abs(difference) <= scalars, `${what}: ${actual} for ${golden}`);
}

describe("calls against PyTorch's allocator", () => {
  before(loadParser);

  for (const golden of calls) {
    it(`${golden.call} of ${golden.inputs.join(" and ")}`, () => {
      const row = { name: "", setup: null, call: golden.call, inputs: golden.inputs };
      const found = runCall(row, { device: "cpu", mode: "grad", attention: "auto", holdsGradient: true });
      if (typeof found === "string") assert.fail(found);
      assert.equal(found.result, golden.result, "storage of the result");
      assert.equal(found.kept, golden.kept, "kept");
      assertClose(found.forwardExtra, golden.forward, "forward");
      assertClose(found.backwardExtra, golden.backward, "backward");
    });
  }
});
