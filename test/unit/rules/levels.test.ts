/** Levels of findings where they differ from the rule's own. */
import assert from "node:assert/strict";
import { analyze } from "../../../server/src/analysis";
import { parseModule } from "../../../server/src/python/parse";
import { loadParser } from "../../support/parser";

function levelsOf(text: string, rule: string): string[] {
  return analyze(parseModule(text))
    .findings.filter((finding) => finding.rule === rule)
    .map(({ level }) => level);
}

describe("levels", () => {
  before(loadParser);

  it("count only the processes that are started before a checkpoint is loaded", () => {
    const text = `
import torch
from accelerate import Accelerator
from torch import nn

model = nn.Linear(8, 2).cuda()
model.load_state_dict(torch.load("first.pt"))
accelerator = Accelerator()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = accelerator.prepare(model, optimizer)
model.load_state_dict(torch.load("second.pt"))
`;
    assert.deepEqual(levelsOf(text, "load-without-map-location"), ["information", "warning"]);
  });
});
