/** The fix of an evaluation that shares its loop with training. */
import assert from "node:assert/strict";
import { analyze } from "../../../server/src/analysis";
import { parseModule } from "../../../server/src/python/parse";
import { loadParser } from "../../support/parser";

/** The `with` that each fix for the forward of a loop over phases writes; the images are made so before it. */
function contextsFor(before: string): (string | undefined)[] {
  const text = `
import torch
from torch import nn
from torchvision.models import resnet18
from attacks import adversarial

model = resnet18(num_classes=10).cuda()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def train(loaders, epochs):
    for epoch in range(epochs):
        for phase in ["train", "val"]:
            model.train(phase == "train")
            for images, labels in loaders[phase]:
                images, labels = images.cuda(), labels.cuda()
                optimizer.zero_grad()
                if epoch > 10:
                    images = ${before}
                    outputs = model(images)
                loss = criterion(outputs, labels)
                if phase == "train":
                    loss.backward()
                    optimizer.step()
`;
  const found = analyze(parseModule(text)).findings.find(({ rule }) => rule === "eval-without-no-grad");
  assert.ok(found, "the forward is found");
  return found.fixes.map(({ edits }) => /with (.*):/.exec(edits.map((edit) => edit.text).join(""))?.[1]);
}

describe("the fix of a loop over phases", () => {
  before(loadParser);

  it("switches gradients by the phase", () => {
    assert.deepEqual(contextsFor("images.flip(3)"), ['torch.set_grad_enabled(phase == "train")']);
  });

  it("is none where an attack on the way takes gradients in every round", () => {
    assert.deepEqual(contextsFor("adversarial(model, images)"), []);
  });
});
