/** Places that a finding points at besides its own. */
import assert from "node:assert/strict";
import { analyze } from "../../../server/src/analysis";
import { render } from "../../../server/src/messages/message";
import { parseModule } from "../../../server/src/python/parse";
import { loadParser } from "../../support/parser";

/** The places of the first finding of a rule, as their text and what is said of them. */
function placesOf(text: string, rule: string): string[] {
  const found = analyze(parseModule(text)).findings.find((finding) => finding.rule === rule);
  assert.ok(found, `${rule} is found`);
  return found.related.map(
    ({ span, message }) => `${text.slice(span.start, span.end)}: ${render(message, "en")}`,
  );
}

function evaluation(input: string): string {
  return `
import torch
from torch.autograd import Variable
from torchvision.models import resnet18

def validate(loader):
    model = resnet18().cuda()
    model.eval()
    right = 0
    for x, y in loader:
        x = ${input}
        right += (model(x).argmax(1) == y.cuda()).sum().item()
    return right
`;
}

describe("related places", () => {
  before(loadParser);

  it("say of volatile inputs that they switch nothing off any more", () => {
    const volatile = "volatile=True: `volatile` has had no effect since PyTorch 0.4.";
    const old = placesOf(evaluation("Variable(x.cuda(), volatile=True)"), "eval-without-no-grad");
    assert.ok(old.includes(volatile), old.join("\n"));
    const plain = placesOf(evaluation("Variable(x.cuda())"), "eval-without-no-grad");
    assert.deepEqual(
      plain.map((place) => place.split(":")[0]),
      ["model.eval()"],
    );
  });

  it("say nothing of a reset that comes later and is of another model", () => {
    const pretraining = `
import torch
from torch import nn

words, tagger = nn.Linear(300, 100), nn.Linear(300, 9)
first = torch.optim.SGD(words.parameters(), lr=0.01)
second = torch.optim.SGD(tagger.parameters(), lr=0.01)
for batch in torch.randn(8, 32, 300):
    words(batch).mean().backward()
    first.step()
for batch in torch.randn(8, 32, 300):
    tagger.zero_grad()
    tagger(batch).mean().backward()
    second.step()
`;
    const places = placesOf(pretraining, "missing-zero-grad");
    assert.equal(places.length, 2, places.join("\n"));
    assert.ok(!places.join().includes("reset"), places.join("\n"));
  });

  it("say of a state that is kept where it is trained, not where a derivative is taken", () => {
    const text = `
import torch
from torch import nn
from torch.autograd import grad

class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(2, 1)

    def forward(self, x):
        return grad(self.net(x).sum(), x, create_graph=True)[0]

field, generator = Field(), nn.Linear(2, 2)
optimizer = torch.optim.SGD(generator.parameters(), lr=0.1)
best, best_state, x = 1000, None, torch.rand(64, 2)
for _ in range(100):
    optimizer.zero_grad()
    loss = field(generator(x)).pow(2).mean()
    loss.backward()
    optimizer.step()
    if loss.item() < best:
        best, best_state = loss.item(), generator.state_dict()
generator.load_state_dict(best_state)
`;
    assert.match(placesOf(text, "best-state-aliased")[0] ?? "", /^loss\.backward\(\): Training goes on here/);
  });
});
