/** The fix that decorates the function of an evaluation. */
import assert from "node:assert/strict";
import { analyze } from "../../../server/src/analysis";
import { render } from "../../../server/src/messages/message";
import { parseModule } from "../../../server/src/python/parse";
import { loadParser } from "../../support/parser";

/** The titles of the fixes for a function that evaluates at its end. */
function titlesFor(before: string): string[] {
  const text = `
import torch
import torch.nn.functional as F
from torchvision.models import resnet18

model = resnet18(num_classes=10).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def step(images, labels):
    optimizer.zero_grad()
    F.cross_entropy(model(images), labels).backward()
    optimizer.step()


def run(training, validation):
    ${before}
    model.eval()
    right = 0
    for images, labels in validation:
        right += (model(images).argmax(1) == labels).sum().item()
    return right
`;
  const found = analyze(parseModule(text)).findings.find(({ rule }) => rule === "eval-without-no-grad");
  assert.ok(found, "the evaluation is found");
  return found.fixes.map(({ title }) => render(title, "en"));
}

const decorates = (titles: string[]): boolean => titles.some((title) => title.startsWith("Decorate"));

describe("the fix that decorates a function", () => {
  before(loadParser);

  it("is offered where the function is the evaluation", () => {
    assert.ok(decorates(titlesFor("print(len(validation))")));
  });

  it("is none where the function trains before, itself or through another", () => {
    assert.ok(!decorates(titlesFor("for images, labels in training:\n        step(images, labels)")));
    assert.ok(!decorates(titlesFor("model(training[0]).sum().backward()")));
  });
});
