/** What the training loop feeds its model: against what real PyTorch called the model with, and where that stays open. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { analyze } from "../../../server/src/analysis";
import type { InputSpecification } from "../../../server/src/memory/setup";
import { render } from "../../../server/src/messages/message";
import { parseModule } from "../../../server/src/python/parse";
import { loadParser } from "../../support/parser";

const goldens = path.join(__dirname, "../../goldens");

interface Measured {
  readonly calls: Readonly<Record<string, readonly string[]>>;
}

const measured = JSON.parse(readFileSync(path.join(goldens, "batches.json"), "utf8")) as Measured;

function setupOf(text: string) {
  return analyze(parseModule(text)).setup;
}

/** As PyTorch shows it, at a micro-batch. */
function shown({ name, dtype, dimensions }: InputSpecification, batch: number): string {
  const shape = dimensions.map(({ factor, perSample }) => factor * (perSample ? batch : 1));
  return `${name === undefined ? "" : `${name}=`}${dtype}[${shape.join(",")}]`;
}

function reasonFor(text: string): string | undefined {
  const { inputs, inputsUnknown } = setupOf(text);
  assert.equal(inputs, undefined);
  return inputsUnknown === undefined ? undefined : render(inputsUnknown.reason, "en");
}

describe("what the script feeds its model", () => {
  before(loadParser);

  for (const file of readdirSync(path.join(goldens, "batches"))) {
    it(`is what PyTorch gave the model in ${file}`, () => {
      const { inputs, batch } = setupOf(readFileSync(path.join(goldens, "batches", file), "utf8"));
      assert.ok(inputs?.from === "script");
      assert.deepEqual(
        inputs.value.map((one) => shown(one, batch?.value ?? 1)),
        measured.calls[file],
      );
    });
  }

  it("was measured for every script", () => {
    assert.deepEqual(Object.keys(measured.calls).sort(), readdirSync(path.join(goldens, "batches")).sort());
  });

  const loop = (body: string, data: string): string => `
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchvision import datasets, transforms

model = nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
${data}
for x, y in loader:
${body.replace(/^/gm, "    ")}
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
`;
  const pairs = "loader = DataLoader(TensorDataset(torch.randn(64, 8), torch.zeros(64, 2)), batch_size=4)";
  const once = "loss = nn.functional.mse_loss(model(x), y)";

  it("grows with the micro-batch that the header gives", () => {
    const { inputs, batch } = setupOf(`# vram: batch=32\n${loop(once, pairs)}`);
    assert.ok(batch?.from === "header");
    assert.deepEqual(
      inputs?.value.map((one) => shown(one, batch.value)),
      ["float32[32,8]"],
    );
  });

  it("is the header's where it has any", () => {
    const { inputs } = setupOf(`# vram: input=float32[B,3]\n${loop(once, pairs)}`);
    assert.equal(inputs?.from, "header");
  });

  it("has a fixed size where nothing says which dimension is the micro-batch", () => {
    const { inputs, batch } = setupOf(loop(once, "loader = [(torch.randn(6, 8), torch.zeros(6, 2))]"));
    assert.equal(batch, undefined);
    assert.deepEqual(
      inputs?.value.map((one) => shown(one, 1)),
      ["float32[6,8]"],
    );
  });

  it("is that of the only call before the backward", () => {
    const evaluated = `${once}\nif y is not None:\n    loss.backward()\n    check = model(x[:1])`;
    assert.deepEqual(
      setupOf(loop(`with torch.no_grad():\n    before = model(x[:1])\n${once}`, pairs)).inputs?.value.length,
      1,
    );
    assert.equal(reasonFor(loop(evaluated, pairs)), "the model is called more than once in an iteration");
  });

  it("may be given in one of two arms", () => {
    const arms = `if y is None:\n    out = model(x)\nelse:\n    out = model(x.float())\nloss = nn.functional.mse_loss(out, y)`;
    assert.deepEqual(
      setupOf(loop(arms, pairs)).inputs?.value.map((one) => shown(one, 4)),
      ["float32[4,8]"],
    );
  });

  const open: readonly (readonly [what: string, text: string, reason: string])[] = [
    [
      "two forwards of one iteration",
      loop("loss = nn.functional.mse_loss(model(x), model(y))", pairs),
      "the model is called more than once in an iteration",
    ],
    [
      "pictures of any size",
      loop(
        once,
        'loader = DataLoader(datasets.ImageFolder("pictures", transforms.ToTensor()), batch_size=4)',
      ),
      "the size of the images is not known: no transform fixes it",
    ],
    [
      "a shorter side that leaves the longer open",
      loop(
        once,
        'loader = DataLoader(datasets.ImageFolder("p", transforms.Compose([transforms.Resize(64), transforms.ToTensor()])))',
      ),
      "the size of the images is not known: no transform fixes it",
    ],
    [
      "a transform that is not known",
      loop(
        once,
        'loader = DataLoader(datasets.CIFAR10("d", transform=transforms.Compose([transforms.FiveCrop(8)])))',
      ),
      "the call of `torchvision.transforms.FiveCrop` is not understood",
    ],
    [
      "an argument that is no tensor",
      loop("loss = nn.functional.mse_loss(model(x, 3), y)", pairs),
      "the model is called with `…`, which is no tensor",
    ],
    [
      "loaders of two batch sizes",
      loop(once, `${pairs}\nother = DataLoader(TensorDataset(torch.randn(64, 8)), batch_size=2)`).replace(
        "for x, y in loader",
        "for (x, y), z in zip(loader, other)",
      ),
      "loaders of different batch sizes feed the model",
    ],
  ];
  for (const [what, text, reason] of open) {
    it(`is open with ${what}`, () => assert.equal(reasonFor(text), reason));
  }

  it("is said where the activations would stand", () => {
    const [estimate] = analyze(parseModule(open[1]?.[1] ?? "")).estimates.all();
    assert.deepEqual(
      estimate?.unknown.map(({ reason }) => render(reason, "en")),
      ["activations: input unknown, because the size of the images is not known: no transform fixes it"],
    );
  });

  it("makes a lower bound where the script's loss is not understood", () => {
    const own = loop("loss = (model(x) - y).abs().exp().mean()", pairs);
    const [estimate] = analyze(parseModule(own)).estimates.all();
    assert.ok(estimate?.complete === false);
    assert.deepEqual(
      estimate.unknown.map(({ reason }) => render(reason, "en")),
      ["the script's loss is not understood: what it saves is not counted"],
    );
  });
});
