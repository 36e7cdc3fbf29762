/** Where a finding's level depends on what the code around it does. */
import assert from "node:assert/strict";
import { checkRule } from "../../support/check";
import { loadParser } from "../../support/parser";

const head = `import torch
from torch import nn
model = nn.Linear(4, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.MSELoss()
loader = torch.utils.data.DataLoader(data, batch_size=8)
val_loader = torch.utils.data.DataLoader(data, batch_size=8)
`;
const training = `for x, y in loader:
    optimizer.zero_grad()
    criterion(model(x.cuda()), y.cuda()).backward()
    optimizer.step()
`;

function levelOf(rule: string, text: string): string | undefined {
  const [finding, other] = checkRule(rule, head + text);
  assert.equal(other, undefined);
  return finding?.level;
}

describe("levels", () => {
  before(loadParser);

  it("of a load: what training still sees is worse than what is copied at once", () => {
    const mark = "  # expect: load-without-map-location\n";
    const held = `state = torch.load(p)${mark}model.load_state_dict(state["model"])\n`;
    const copied = `model.load_state_dict(torch.load(p))${mark}`;
    const rule = "load-without-map-location";
    assert.equal(levelOf(rule, held + training), "warning");
    assert.equal(levelOf(rule, `${held}del state\n${training}`), "information");
    assert.equal(levelOf(rule, copied + training), "information");
    assert.equal(levelOf(rule, training + copied), "information");
    assert.equal(levelOf(rule, held), "information");
    assert.equal(
      levelOf(rule, `torch.distributed.init_process_group("nccl")\n${copied}${training}`),
      "warning",
    );
  });

  it("of an evaluation: a pass over batches is worse than one batch", () => {
    const forward =
      "    scores = model(x.cuda())  # expect: eval-without-no-grad\n    print(scores.argmax())\n";
    const rule = "eval-without-no-grad";
    assert.equal(levelOf(rule, `${training}model.eval()\nfor x, y in val_loader:\n${forward}`), "error");
    assert.equal(
      levelOf(rule, `${training}model.eval()\nfor x, y in val_loader:\n${forward}    break\n`),
      "warning",
    );
  });
});
