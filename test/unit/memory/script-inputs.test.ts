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
      loop("loss = nn.functional.mse_loss(model(x, torch.device('cpu')), y)", pairs),
      "the model is called with `…`, which is no tensor",
    ],
    [
      "a number that grows with the batch",
      loop("loss = nn.functional.mse_loss(model(x, len(x)), y)", pairs),
      "the model is called with `…`, which is no tensor",
    ],
    [
      "a state that is none at first",
      loop("loss = nn.functional.mse_loss(model(x, state), y)", `${pairs}\nstate = None`),
      "the model is called with `…`, which is no tensor",
    ],
    [
      "all columns of a table",
      loop(
        once,
        'import pandas\nx = torch.FloatTensor(pandas.read_csv("a.csv").values)\nloader = DataLoader(TensorDataset(x, x), batch_size=4)',
      ),
      "how large the data is in dimension 0, only a run can know",
    ],
    [
      "columns of a type that nothing fixes",
      loop(
        once,
        'import pandas\nx = torch.tensor(pandas.read_csv("a.csv")[["b", "c"]].values)\nloader = DataLoader(TensorDataset(x, x), batch_size=4)',
      ),
      "the type of the data is not known: nothing in the script fixes it",
    ],
    [
      "a transform of pictures that is not known",
      loop(
        once,
        'import albumentations as A\nsteps = A.Compose([A.LongestMaxSize(64)])\nloader = [(steps(image=x)["image"], 1) for x in [torch.zeros(8, 8)]]',
      ),
      "the call of `albumentations.LongestMaxSize` is not understood",
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

  const inContainers: readonly (readonly [what: string, given: string, inputs: readonly string[]])[] = [
    ["one tensor twice", "model(x, x)", ["float32[4,8]"]],
    ["a dictionary", 'model({"x": x, "y": y})', ["float32[4,8]", "float32[4,2]"]],
    ["plain values beside it", 'model(x, 3, "mean", scale=0.5)', ["float32[4,8]"]],
    ["none where it is written", "model(x, None)", ["float32[4,8]"]],
  ];
  for (const [what, given, inputs] of inContainers) {
    it(`is known with ${what}`, () => {
      const found = setupOf(loop(`loss = nn.functional.mse_loss(${given}, y)`, pairs)).inputs;
      assert.deepEqual(
        found?.value.map((one) => shown(one, 4)),
        inputs,
      );
    });
  }

  it("is known where the loader is gone through in a with block", () => {
    const bar = `from tqdm import tqdm\n${loop(once, pairs)}`;
    const text = bar.replace(/\nfor x, y in loader:[^]*/, (all) => {
      const within = all.replace("in loader", "in bar").replaceAll("\n", "\n    ");
      return `\nwith tqdm(loader, unit="batch") as bar:\n    bar.set_description("")${within}\n`;
    });
    assert.match(text, /^ {4}for x, y in bar:$/m);
    assert.deepEqual(
      setupOf(text).inputs?.value.map((one) => shown(one, 4)),
      ["float32[4,8]"],
    );
    assert.deepEqual(analyze(parseModule(text)).estimates.first()?.unknown, []);
  });

  const ownSampler = (base: string, batch: string): string => `
import random
from torch.utils.data import BatchSampler, RandomSampler, Sampler
class Batches${base}:
    def __init__(self, count, size):
        self.count, self.size = count, size
    def __iter__(self):
        order = list(range(self.count))
        random.shuffle(order)
        for i in range(0, self.count, self.size):
            yield ${batch}
data = TensorDataset(torch.randn(64, 8), torch.zeros(64, 2))`;
  const samplers: readonly (readonly [what: string, data: string])[] = [
    [
      "PyTorch's sampler of batches",
      "DataLoader(data, batch_sampler=BatchSampler(RandomSampler(data), 6, False))",
    ],
    ["a sampler of the script's own", "DataLoader(data, batch_sampler=Batches(len(data), 6))"],
    ["lists of indices", "DataLoader(data, batch_sampler=[[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]])"],
  ];
  for (const [what, made] of samplers) {
    it(`has the batches of ${what}`, () => {
      const text = loop(once, `${ownSampler("(Sampler)", "order[i:i + self.size]")}\nloader = ${made}`);
      const { inputs, batch } = setupOf(text);
      assert.equal(batch?.value, 6);
      assert.deepEqual(
        inputs?.value.map((one) => shown(one, 6)),
        ["float32[6,8]"],
      );
    });
  }

  it("is open where a sampler's batches are not known", () => {
    const sampler = ownSampler("", "elsewhere(order)");
    const text = loop(once, `${sampler}\nloader = DataLoader(data, batch_sampler=Batches(len(data), 6))`);
    assert.equal(reasonFor(text), "`elsewhere` is not known here");
  });

  const folder = (steps: string, head = ""): string =>
    loop(
      "loss = nn.functional.mse_loss(model(x), y)",
      `import random
import numpy as np
from PIL import Image
${head}
class Pictures(torch.utils.data.Dataset):
    def __init__(self):
        self.steps = transforms.Compose([${steps}])
    def __getitem__(self, i):
        picture = Image.open(names[i])
        if np.random.random() < 0.5:
            picture = Image.fromarray(np.array(picture)[:, ::-1, :], "RGB")
        return self.steps(picture), 1
loader = DataLoader(Pictures(), batch_size=4)`,
    );
  const size = "transforms.Resize((8, 8)), transforms.ToTensor()";
  const noise = `class Noise:
    def __call__(self, picture):
        if random.random() < 0.5:
            turns = 2
            return picture.rotate(turns)
        else:
            return picture
`;

  const channels: readonly (readonly [what: string, text: string, input: string])[] = [
    [
      "a normalisation of three channels",
      folder(`${size}, transforms.Normalize((0.5,) * 3, (0.5,) * 3)`),
      "float32[4,3,8,8]",
    ],
    ["a helper that returns one or the other", folder(`Noise(), ${size}`, noise), "float32[4,3,8,8]"],
  ];
  for (const [what, text, input] of channels) {
    it(`has the channels of ${what}`, () => {
      const { inputs } = setupOf(text);
      assert.deepEqual(
        inputs?.value.map((one) => shown(one, 4)),
        [input],
      );
    });
  }

  it("has channels that one mean for all leaves open", () => {
    const text = folder(`${size}, transforms.Normalize(0.5, 0.5)`).replace(/ {8}if np[^]*?"RGB"\)\n/, "");
    assert.equal(
      reasonFor(text),
      'how many channels the images have is not known: no `.convert("RGB")` fixes it',
    );
  });

  it("of fixed sizes does not take a micro-batch that is asked for: that is said", () => {
    const script = (size: string): string => `# vram: batch=64
import torch
from torch import nn
batch_size = 8
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(9):
    x, y = torch.randn(${size}, 4), torch.randn(${size}, 2)
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
`;
    const reasons = (size: string): string[] =>
      analyze(parseModule(script(size)))
        .estimates.first()
        ?.unknown.map(({ reason }) => render(reason, "en")) ?? [];
    assert.deepEqual(reasons("batch_size"), []);
    assert.match(reasons("16").join(), /^the script's input has fixed sizes/);
  });

  it("is said where the activations would stand", () => {
    const [estimate] = analyze(parseModule(open[1]?.[1] ?? "")).estimates.all();
    assert.deepEqual(
      estimate?.unknown.map(({ reason }) => render(reason, "en")),
      [
        "activations: input unknown, because the size of the images is not known: no transform fixes it. The header can say it, with the sizes of your data: `# vram: input=float32[B,8]`",
      ],
    );
  });

  const lightning = (training: string, fit: string): string => `
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 2)
        self.save_hyperparameters()
${training}
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
${pairs}
${fit}
`;

  it("of a LightningModule costs what the same step costs written out", () => {
    const step = "loss = nn.functional.mse_loss(self.layer(x).relu(), y)\n        return loss";
    const trained = lightning(
      `    def training_step(self, batch, index):\n        x, y = batch\n        ${step}`,
      "L.Trainer(max_epochs=1).fit(Net(), loader)",
    );
    const written = lightning(`    def forward(self, x, y):\n        ${step}`, "");
    const header = "# vram: input=float32[B,8], input=float32[B,2], batch=4, loss=model, optimizer=sgd\n";
    const [one] = analyze(parseModule(trained)).estimates.all();
    const [other] = analyze(parseModule(`${header}${written}`)).estimates.all();
    assert.ok(one?.complete === true && other?.complete === true);
    assert.equal(one.saved?.bytes, other.saved?.bytes);
    const { parameters, gradients } = one;
    assert.deepEqual([parameters, gradients], [other.parameters, other.gradients]);
  });

  it("of a LightningModule has the gradients of the step before in its forward: Lightning clears them behind it", () => {
    const text = lightning(
      "    def training_step(self, batch, index):\n        x, y = batch\n        return nn.functional.mse_loss(self.layer(x), y)",
      "L.Trainer(max_epochs=1).fit(Net(), loader)",
    );
    const { estimates } = analyze(parseModule(text));
    const gradients = estimates.first()?.gradients.bytes ?? 0;
    const points = estimates.timeline?.() ?? [];
    const forward = points.filter(({ phase }) => phase === "forward");
    assert.ok(gradients > 0 && forward.length > 0);
    assert.ok(forward.every((point) => point.gradients === gradients));
    assert.equal(points.find(({ phase }) => phase === "backward")?.gradients, 0);
    const header = "# vram: accumulate=2\n";
    const waiting = analyze(parseModule(header + text)).estimates.timeline?.() ?? [];
    assert.ok(waiting.every((point) => point.gradients >= gradients));
    for (const batch of [3, 64, 200]) {
      const fresh = analyze(parseModule(`# vram: batch=${batch}\n${text}`)).estimates.first();
      assert.equal(estimates.changed?.({ batch })?.estimate.peak?.bytes, fresh?.peak?.bytes);
    }
  });

  it("is open where Lightning's module steps by itself", () => {
    const manual = lightning(
      "        self.automatic_optimization = False\n    def training_step(self, batch, index):\n        pass",
      "L.Trainer().fit(Net(), loader)",
    );
    assert.equal(setupOf(manual).inputs, undefined);
  });

  it("makes a lower bound where the script's loss is not understood", () => {
    const own = loop("loss = elsewhere(model(x), y)", pairs);
    const [estimate] = analyze(parseModule(own)).estimates.all();
    assert.ok(estimate?.complete === false);
    assert.deepEqual(
      estimate.unknown.map(({ reason }) => render(reason, "en")),
      [
        "the training loop is not followed to its end (`elsewhere` is not known here): what it holds besides this model is not counted",
        "the script's loss is not understood: what it saves is not counted",
      ],
    );
  });
});
