/** What messages advise: it fits the value that they speak of. */
import assert from "node:assert/strict";
import { render } from "../../../server/src/messages/message";
import { findingsIn } from "../../support/check";
import { fixtures } from "../../support/fixtures";
import { loadParser } from "../../support/parser";

const training = `import torch
from torch import nn

model = nn.Linear(10, 4).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = [(torch.randn(8, 10).cuda(), torch.randn(8, 4).cuda()) for _ in range(100)]
kept = []

for i, (x, y) in enumerate(loader):
    output = model(x)
    loss = nn.functional.mse_loss(output, y)
`;

function messageOf(rule: string, text: string): string {
  const [finding, another] = findingsIn(text).filter((one) => one.rule === rule);
  assert.ok(finding !== undefined && another === undefined, text);
  return render(finding.message, "en");
}

function keepsAfterBackward(line: string): string {
  const text = `${training}    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n    ${line}\nprint(len(kept))\n`;
  return messageOf("graph-retained-after-backward", text);
}

describe("advice in messages", () => {
  before(loadParser);

  it("is .item() for numbers only", () => {
    assert.match(keepsAfterBackward("kept.append(loss)"), /Keep the number \(`\.item\(\)`\)/);
    assert.match(keepsAfterBackward("kept.append(output)"), /Keep a detached tensor \(`\.detach\(\)`\)\.$/);
  });

  it("is .item() only where the fix keeps a number", () => {
    const kept = ["loss-graph-retained", "graph-retained-after-backward"];
    const seen = { number: 0, tensor: 0 };
    for (const fixture of kept.flatMap((rule) => fixtures(`rules/${rule}`))) {
      for (const { rule, message, fixes } of findingsIn(fixture.text, { select: kept })) {
        const isAdvised = render(message, "en").includes("`.item()`");
        const isFixed = fixes.some(({ title }) => render(title, "en").includes("`.item()`"));
        assert.equal(isAdvised, isFixed, `${fixture.name}, ${rule}: ${render(message, "en")}`);
        seen[isFixed ? "number" : "tensor"]++;
      }
    }
    assert.ok(seen.number > 10 && seen.tensor > 10);
  });

  it("speaks of the element of a list that is added", () => {
    assert.match(keepsAfterBackward("kept += [loss]"), /^`kept` keeps `loss` with its graph/);
  });

  it("speaks of what a sum adds", () => {
    const sums = training.replace("kept = []", "kept = 0");
    const text = `${sums}    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n    kept = kept + loss\nprint(kept)\n`;
    assert.match(messageOf("graph-retained-after-backward", text), /^`kept` keeps `loss` with its graph/);
  });

  it("tells a module's parameter from a tensor that it holds", () => {
    const update = (made: string): string =>
      messageOf(
        "update-outside-no-grad",
        `import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = ${made}

    def step(self, loss):
        loss.backward()
        self.weight = self.weight - 0.1 * self.weight.grad
`,
      );
    assert.match(update("nn.Parameter(torch.zeros(10))"), /takes nothing but an `nn\.Parameter`/);
    assert.match(update("torch.zeros(10, requires_grad=True)"), /is no leaf any more/);
  });

  it("divides the whole loss by the accumulation steps", () => {
    const text = `${training}    (loss + output.mean()).backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
`;
    const message = messageOf("accumulation-loss-not-scaled", text);
    assert.match(message, /Backward through `\(loss \+ output\.mean\(\)\) \/ 4`\.$/);
  });

  it("is no_grad for a discriminator's images only where no step reads them by another name", () => {
    const text = (made: string, read: string): string => `import torch
from torch import nn

generator = nn.Linear(100, 784).cuda()
critic = nn.Linear(784, 1).cuda()
optimizer_g = torch.optim.Adam(generator.parameters())
optimizer_d = torch.optim.Adam(critic.parameters())

for real in loader:
    ${made}
    loss_d = critic(real).mean() - critic(fakes).mean()
    optimizer_d.zero_grad()
    loss_d.backward(retain_graph=True)
    optimizer_d.step()
    optimizer_g.zero_grad()
    loss_g = critic(${read}).mean()
    loss_g.backward()
    optimizer_g.step()
`;
    const noise = "generator(torch.randn(64, 100).cuda())";
    const advised = (made: string, read: string): string =>
      messageOf("generator-not-detached", text(made, read));
    assert.match(advised(`fakes = ${noise}`, noise), /No other step reads it/);
    assert.match(advised(`images = ${noise}\n    fakes = images`, "images"), /Pass `fakes\.detach\(\)`\.$/);
    assert.match(advised(`images = ${noise}\n    fakes = images`, "fakes"), /Pass `fakes\.detach\(\)`\.$/);
  });

  it("speaks of the cache where a helper empties it that other callers use rightly", () => {
    const text = `import torch
from torch import nn

model = nn.Linear(10, 4).cuda()

def label(x):
    given = model(x)
    torch.cuda.empty_cache()
    return given

for x, y in torch.utils.data.DataLoader(data):
    print(label(x))
label(first)
`;
    assert.match(
      messageOf("empty-cache-in-loop", text),
      /^`label\(\)` calls `torch\.cuda\.empty_cache\(\)` for every batch here: that frees nothing/,
    );
  });
});
