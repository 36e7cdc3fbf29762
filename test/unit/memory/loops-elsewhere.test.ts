/** Training loops that another file holds: the same answers as when the script holds them itself. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { analyze, type Analysis } from "../../../server/src/analysis";
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
});
