/** Training loops that another file holds: the same answers as when the script holds them itself. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { analyze, type Analysis } from "../../../server/src/analysis";
import { render } from "../../../server/src/messages/message";
import { parseModule } from "../../../server/src/python/parse";
import { importResolver } from "../../../server/src/workspace/imports";
import { loadParser } from "../../support/parser";

const model = `
class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 10))
    def forward(self, x):
        return self.body(x)
`;

const imports =
  "import argparse\nimport torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader\n";
const data = `
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 1000
    def __getitem__(self, i):
        return torch.zeros(64), i % 10
`;

/** The loop, as a function of its arguments. */
const loop = `
def train_one_epoch(model, criterion, optimizer, loader, args):
    model.train()
    for i, (x, y) in enumerate(loader):
        x, y = x.to(args.device), y.to(args.device)
        with torch.amp.autocast("cuda", enabled=args.amp):
            loss = criterion(model(x), y) / args.accumulate
        loss.backward()
        if (i + 1) % args.accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
`;

const begin = `
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--accumulate", type=int, default=4)
    parser.add_argument("--amp", action="store_false")
    parser.add_argument("--device", default="cuda")
    args = parser.parse_args()
    loader = DataLoader(Data(), batch_size=args.batch_size, sampler=torch.utils.data.RandomSampler(Data()))
    validation = DataLoader(Data(), batch_size=2 * args.batch_size)
    model = Net(128).to(args.device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters())
`;
const run =
  "    for epoch in range(3):\n        train_one_epoch(model, criterion, optimizer, loader, args)\nmain()\n";
const alone = imports + data + model + loop + begin + run;

interface Form {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly text: string;
}

const trainer = `
class Trainer:
    def __init__(self, model, loader, args):
        self.model, self.loader, self.args = model, loader, args
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.Adam(model.parameters())
    def epoch(self):
        train_one_epoch(self.model, self.criterion, self.optimizer, self.loader, self.args)
    def fit(self, epochs):
        for epoch in range(epochs):
            self.epoch()
`;

const forms: readonly Form[] = [
  {
    name: "a function of a module beside the script",
    files: { "engine.py": `import torch\n${loop}` },
    text: `${imports}from engine import train_one_epoch\n${data}${model}${begin}${run}`,
  },
  {
    name: "a function of a module that is imported as a whole, the model in a third file",
    files: {
      "lib/__init__.py": "",
      "lib/engine.py": `import torch\n${loop}`,
      "lib/nets.py": `from torch import nn\n${model}`,
    },
    text: `${imports}from lib import engine\nfrom lib.nets import Net\n${data}${begin}${run.replace("train_one", "engine.train_one")}`,
  },
  {
    name: "a function that a function of another file calls",
    files: {
      "engine.py": `import torch\n${loop}`,
      "runner.py":
        "from engine import train_one_epoch\ndef fit(net, loss, opt, batches, options):\n" +
        "    for epoch in range(3):\n        train_one_epoch(net, loss, opt, batches, options)\n",
    },
    text: `${imports}from runner import fit\n${data}${model}${begin}    fit(model, criterion, optimizer, loader, args)\nmain()\n`,
  },
  {
    name: "a method of a trainer",
    files: { "trainer.py": `import torch\nfrom torch import nn\n${loop}${trainer}` },
    text: `${imports}from trainer import Trainer\n${data}${model}${begin}    Trainer(model, loader, args).fit(3)\nmain()\n`,
  },
];

describe("training loops in other files", () => {
  let root = "";

  before(loadParser);
  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), "loops-"));
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
  });

  function analysisOf(text: string, files: Readonly<Record<string, string>> = {}): Analysis {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
      writeFileSync(path.join(root, name), content);
    }
    return analyze(parseModule(text), {
      resolveImport: importResolver(path.join(root, "train.py"), { root }),
    });
  }

  function answersOf({ estimates, setup }: Analysis): unknown {
    const [estimate] = estimates.all();
    assert.ok(estimate?.complete, JSON.stringify(estimate?.unknown.map(({ reason }) => reason)));
    const { accumulate, precision } = setup;
    const batch = estimate.assumptions.find(({ key }) => key === "batch");
    const { parameters, gradients, optimizer, saved, peak } = estimate;
    return {
      setup: [batch?.value, accumulate?.value, precision?.value],
      states: [parameters, gradients, optimizer?.bytes],
      step: [saved, peak?.bytes, peak?.phase],
    };
  }

  it("of the script's own file are what the others are compared with", () => {
    const { setup, estimates } = analysisOf(alone);
    const [estimate] = estimates.all();
    assert.deepEqual(
      [setup.batch?.value, setup.accumulate?.value, setup.precision?.value],
      [32, 4, "amp-fp16"],
    );
    assert.equal(estimate?.parameters.count, 64 * 128 + 128 + 1290);
  });

  for (const { name, files, text } of forms) {
    it(`are followed: ${name}`, () => {
      const analysis = analysisOf(text, files);
      assert.ok(analysis.setup.iteration !== undefined, "the loop is found");
      assert.deepEqual(answersOf(analysis), answersOf(analysisOf(alone)));
    });

    it(`are spoken of at the call that leads there: ${name}`, () => {
      const { estimates, setup } = analysisOf(text, files);
      const span = estimates.all()[0]?.peak?.span;
      assert.ok(span !== undefined && setup.iteration?.span !== undefined);
      const spoken = [span, setup.iteration.span].map(({ start, end }) => text.slice(start, end));
      const call = spoken[1] ?? "";
      assert.match(call, /^((engine\.)?train_one_epoch|fit|Trainer\(model, loader, args\)\.fit)\([^)]*\)$/);
      assert.ok(["self.body(x)", call].includes(spoken[0] ?? ""), spoken[0]);
    });
  }

  it("are not chosen among where a script calls two of them", () => {
    const files = {
      "engine.py": `import torch\n${loop}${loop.replace("train_one_epoch", "finetune")}`,
    };
    const call = "        finetune(model, criterion, optimizer, loader, args)\nmain()\n";
    const text = `${imports}from engine import train_one_epoch, finetune\n${data}${model}${begin}${run.replace("main()\n", call)}`;
    assert.equal(analysisOf(text, files).setup.iteration, undefined);
  });

  it("are no matter of a script that has one itself", () => {
    const files = { "engine.py": `import torch\n${loop.replace("train_one_epoch", "pretrain")}` };
    const text = alone.replace("import argparse\n", "import argparse\nfrom engine import pretrain\n");
    const found = analysisOf(
      text.replace("    for epoch", "    pretrain(model, criterion, optimizer, loader, args)\n    for epoch"),
      files,
    );
    assert.deepEqual(answersOf(found), answersOf(analysisOf(alone)));
  });

  /** A loop over what a logger passes on, with accuracy and averages around the step. */
  const logged = `
class Average:
    def __init__(self):
        self.total, self.count = 0.0, 0
    def update(self, value):
        self.total, self.count = self.total + value, self.count + 1
    @property
    def mean(self):
        return self.total / self.count
class Logger:
    def __init__(self):
        self.meters = {"loss": Average()}
    def every(self, loader, step):
        for i, batch in enumerate(loader):
            yield batch
            if i % step == 0:
                print(self.meters["loss"].mean)
def train_one_epoch(model, criterion, optimizer, loader, args):
    logger = Logger()
    correct = 0
    for x, y in logger.every(loader, 10):
        output = model(x.to(args.device))
        loss = criterion(output, y.to(args.device))
        correct += (output.argmax(1) == y.to(args.device)).sum().item()
        logger.meters["loss"].update(loss.item())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
`;
  const labelled = `
import os
class Data(torch.utils.data.Dataset):
    def __init__(self):
        self.names = os.listdir("pictures")
        self.labels = [int(name.split("_")[0]) for name in self.names]
    def __len__(self):
        return len(self.names)
    def __getitem__(self, i):
        return torch.zeros(64), self.labels[i]
    @staticmethod
    def collate(items):
        xs, ys = zip(*items)
        return torch.stack(xs), torch.as_tensor(ys)
`;

  it("get labels that only files know, and log behind a generator's yield", () => {
    const files = { "engine.py": `import torch\n${logged}` };
    const head = `${imports}from engine import train_one_epoch\n`;
    const collated = begin.replace("sampler=", "collate_fn=Data.collate, sampler=");
    const read = (of: string): Analysis => analysisOf(`${head}${of}${model}${collated}${run}`, files);
    const known = read(
      labelled.replace('int(name.split("_")[0])', "1").replace('os.listdir("pictures")', "['a']"),
    );
    const unknown = read(labelled);
    const [one, other] = [known, unknown].map(({ estimates }) => estimates.all()[0]);
    assert.ok(one?.complete === true && other?.complete === true);
    assert.deepEqual(other.optimizer, one.optimizer);
    // which of the labels' copies count as input is all that may differ
    const labels = 32 * 8;
    assert.ok(Math.abs((other.saved?.bytes ?? 0) - (one.saved?.bytes ?? 0)) <= labels);
    assert.ok(Math.abs((other.peak?.bytes ?? 0) - (one.peak?.bytes ?? 0)) <= 2 * labels);
    const [estimate] = unknown.estimates.all();
    assert.ok(estimate?.assumptions.some(({ key }) => key === "target"));
  });

  it("that are not followed to a backward leave the states of the models, and the reason", () => {
    const files = {
      "engine.py": `import torch\n${loop}`,
      "nets.py": `from torch import nn\n${model}\ndef make(width):\n    return Net(width)\n`,
    };
    const open =
      "class Data(torch.utils.data.Dataset):\n    def __getitem__(self, i):\n        return read(i)\n";
    const text = `${imports}from engine import train_one_epoch\nfrom nets import make\n${open}${begin.replace("Net(", "make(")}${run}`;
    const [estimate] = analysisOf(text, files).estimates.all();
    assert.equal(estimate?.parameters.count, 64 * 128 + 128 + 1290);
    assert.equal(estimate.optimizer?.bytes, 2 * estimate.parameters.bytes);
    assert.equal(estimate.peak, null);
    assert.deepEqual(
      estimate.unknown.map(({ reason }) => render(reason, "en")),
      [
        "activations: input unknown, because `read` is not known here. The header can say it, with the sizes of your data: `# vram: input=float32[B,64]`",
      ],
    );
  });

  for (const made of ["make(128)", "nn.DataParallel(make(128))"]) {
    it(`with a model that nobody knows say so where it is made: ${made}`, () => {
      const files = { "engine.py": `import torch\n${loop}` };
      const text = `${imports}from engine import train_one_epoch\nfrom nets import make\n${data}${begin.replace("Net(128)", made)}${run}`;
      const [estimate, ...others] = analysisOf(text, files).estimates.all();
      assert.deepEqual(others, []);
      assert.equal(estimate?.notBuilt, true);
      assert.ok(["make", made].includes(estimate.name), estimate.name);
      assert.deepEqual(
        estimate.unknown.map(({ reason }) => /nets\.make/.test(render(reason, "en"))),
        [true],
      );
      assert.ok(["make(128)", made].includes(text.slice(estimate.span.start, estimate.span.end)));
    });
  }
});

describe("a LightningModule of another file", () => {
  before(loadParser);

  const lightning = "import torch\nfrom torch import nn\nimport lightning as L\n";
  const module = `
class Lit(L.LightningModule):
    def __init__(self, width=16):
        super().__init__()
        self.net = nn.Linear(64, width)
    def training_step(self, batch, index):
        x, y = batch
        return nn.functional.cross_entropy(self.net(x), y)
    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)
`;
  const main = `
loader = torch.utils.data.DataLoader(
    torch.utils.data.TensorDataset(torch.randn(64, 64), torch.randint(0, 10, (64,))), batch_size=8
)
L.Trainer(max_epochs=1).fit(Lit(width=32), loader)
`;

  it("has the step, and the optimizer, that it has in the script itself", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "vramlint-lightning-"));
    writeFileSync(path.join(folder, "model.py"), lightning + module);
    const file = path.join(folder, "main.py");
    const resolveImport = importResolver(file, { root: folder });
    const split = analyze(parseModule(`${lightning}from model import Lit\n${main}`), { resolveImport });
    const whole = analyze(parseModule(lightning + module + main));
    const [one, other] = [split, whole].map(({ estimates }) => estimates.first());
    rmSync(folder, { recursive: true });
    assert.equal(other?.complete, true);
    assert.equal(one?.complete, true);
    assert.deepEqual(one.optimizer, other.optimizer);
    assert.equal(one.peak?.bytes, other.peak?.bytes);
  });
});
