/** What cannot be counted in full: lower bounds, and their kin that are exact. */
import assert from "node:assert/strict";
import { loadParser } from "../../support/parser";
import { parseModule } from "../../../server/src/python/parse";
import { CallArguments } from "../../../server/src/memory/evaluate/arguments";
import { Program } from "../../../server/src/memory/evaluate/program";
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

describe("a forward that replaces a parameter gives a lower bound", () => {
  before(loadParser);

  function boundsOfForward(assignment: string): string[] {
    const source = [
      "import torch.nn as nn",
      "class Codebook(nn.Module):",
      "    def __init__(self):",
      "        super().__init__()",
      "        self.codes = nn.Linear(4, 8)",
      "    def forward(self, x):",
      `        ${assignment}`,
      "        return self.codes(x)",
      "m = Codebook()",
      "",
    ].join("\n");
    const execution = new Execution({ device: "cuda" });
    const program = new Program(execution, parseModule(source).module);
    const model = program.global("m");
    assert.ok(model !== undefined);
    program.call(model, new CallArguments([execution.input([2, 4], "float32")]));
    assert.deepEqual(program.noted(), []);
    return [...execution.bounds.values()].map(({ reason }) => render(reason, "en"));
  }

  it("nn.Parameter in another's place", () => {
    assert.deepEqual(boundsOfForward("self.codes.weight = nn.Parameter(self.codes.weight * 0.9)"), [
      "the forward replaces the parameter weight; the one that the optimizer was given stays alive and is not counted",
    ]);
  });

  it("the same parameter again gives none", () => {
    assert.deepEqual(boundsOfForward("self.codes.weight = self.codes.weight"), []);
  });
});
