/** Operators whose copies on the way cannot be counted: lower bounds, and their kin that are exact. */
import assert from "node:assert/strict";
import { loadParser } from "../../support/parser";
import { Execution, nowhere } from "../../../server/src/memory/tape";
import { Tensor, type Dtype } from "../../../server/src/memory/tensor";
import { render } from "../../../server/src/messages/message";

/** The reasons why a call on one matrix is a lower bound. */
function boundsOf(name: string, dtype: Dtype): string[] {
  const execution = new Execution({ device: "cuda" });
  const result = execution.call(name, [execution.input([4, 6], dtype)], {}, nowhere);
  assert.ok(result instanceof Tensor);
  return [...execution.bounds.values()].map(({ reason }) => render(reason, "en"));
}

describe("operators that give lower bounds", () => {
  before(loadParser);

  const cases: readonly (readonly [name: string, dtype: Dtype, isBound: boolean])[] = [
    ["Tensor.conj", "complex64", true],
    ["torch.conj", "complex64", true],
    ["torch.conj", "float32", false],
    ["torch.resolve_conj", "complex64", false],
    ["torch.fft.ifft", "float32", true],
    ["torch.fft.ifft", "complex64", false],
    ["torch.fft.fft", "float32", false],
    ["torch.fft.ifft2", "float32", false],
  ];
  for (const [name, dtype, isBound] of cases) {
    it(`${name} of ${dtype}${isBound ? "" : " gives none"}`, () => {
      const reason = `what ${name} makes is conjugated only where it is used, in copies that are not counted`;
      assert.deepEqual(boundsOf(name, dtype), isBound ? [reason] : []);
    });
  }
});
