import assert from "node:assert/strict";
import { parseModule } from "../../../server/src/python/parse";
import { buildScopes } from "../../../server/src/python/scope";
import type { Source } from "../../../server/src/python/source";
import { torchFacts } from "../../../server/src/torch/facts";
import type { ScriptSetup, ScriptValue } from "../../../server/src/torch/script-setup";
import { loadParser } from "../../support/parser";

function setupOf(
  text: string,
  files: Readonly<Record<string, string>> = {},
): { readonly setup: ScriptSetup; readonly source: Source } {
  const parsed = parseModule(text);
  const facts = torchFacts(parsed.module, buildScopes(parsed.module), undefined, {
    readBeside: (name) => files[name],
  });
  return { setup: facts.scriptSetup, source: parsed.source };
}

function valueOf<Value>(found: ScriptValue<Value> | undefined): Value | undefined {
  return found?.value;
}

const head = `import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader
class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.fc = nn.Linear(4, width)
    def forward(self, x):
        return self.fc(x)
`;

const loop = `
for epoch in range(3):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
`;

const rest = `
model = Net(width=16)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
`;

describe("what a script says about its run", () => {
  before(loadParser);

  it("reads a plain script", () => {
    const { setup, source } = setupOf(
      `${head}
model = Net(width=16).cuda()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01, fused=True)
loader = DataLoader(data, batch_size=64, shuffle=True)
${loop}`,
    );
    assert.equal(valueOf(setup.batch), 64);
    assert.deepEqual(valueOf(setup.optimizer), {
      name: "torch.optim.AdamW",
      options: { weight_decay: 0.01, fused: true },
      complete: true,
    });
    assert.deepEqual(valueOf(setup.loss), {
      name: "torch.nn.CrossEntropyLoss",
      form: "module",
      reduction: undefined,
    });
    const model = valueOf(setup.model);
    assert.ok(model?.construction !== undefined);
    assert.equal(model.className, "Net");
    assert.equal(source.slice(model.construction), "Net(width=16)");
    assert.equal(setup.batch && source.slice(setup.batch.span), "64");
    assert.deepEqual(
      [setup.precision, setup.accumulate, setup.shard, setup.devices],
      [undefined, undefined, undefined, undefined],
    );
    assert.deepEqual(setup.checkpointing, []);
  });

  describe("micro-batch", () => {
    const batch = (lines: string, given = "batch_size=SIZE"): number | undefined =>
      valueOf(setupOf(`${head}${rest}${lines}\nloader = DataLoader(data, ${given})\n${loop}`).setup.batch);
    const cases: readonly (readonly [string, string, string, number | undefined])[] = [
      ["constant", "SIZE = 16", "batch_size=SIZE", 16],
      ["arithmetic", "SIZE = 128", "batch_size=SIZE // 4", 32],
      ["positional", "", "16", 16],
      ["default of DataLoader", "", "shuffle=True", 1],
      [
        "argparse default",
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('-b', '--batch-size', type=int, default=48)\nargs = p.parse_args()",
        "batch_size=args.batch_size",
        48,
      ],
      [
        "argparse default as text",
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--bs', type=int, default='48')\nargs = p.parse_args()",
        "batch_size=args.bs",
        48,
      ],
      [
        "argument changed afterwards",
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--bs', type=int, default=48)\nargs = p.parse_args()\nargs.bs = args.bs // gpus",
        "batch_size=args.bs",
        undefined,
      ],
      ["dictionary", "cfg = {'batch': 24}", "batch_size=cfg['batch']", 24],
      ["dictionary get", "cfg = {'lr': 1}", "batch_size=cfg.get('batch', 12)", 12],
      ["spread dictionary", "kw = {'batch_size': 20, 'shuffle': True}", "**kw", 20],
      [
        "namespace",
        "from types import SimpleNamespace\ncfg = SimpleNamespace(bs=20)",
        "batch_size=cfg.bs",
        20,
      ],
      [
        "dataclass",
        "from dataclasses import dataclass\n@dataclass\nclass Config:\n    bs: int = 40\ncfg = Config()",
        "batch_size=cfg.bs",
        40,
      ],
      [
        "dataclass overridden",
        "from dataclasses import dataclass\n@dataclass\nclass Config:\n    bs: int = 40\ncfg = Config(bs=10)",
        "batch_size=cfg.bs",
        10,
      ],
      ["class attribute", "class Config:\n    bs = 40", "batch_size=Config.bs", 40],
      ["absl flag", "flags.DEFINE_integer('bs', 56, 'help')\nFLAGS = flags.FLAGS", "batch_size=FLAGS.bs", 56],
      ["environment", "import os", "batch_size=int(os.environ['BS'])", undefined],
      ["sampler", "", "batch_sampler=sampler", undefined],
      ["None", "", "batch_size=None", undefined],
      ["hidden arguments", "", "**unknown()", undefined],
      ["two values", "SIZE = 1\nif big:\n    SIZE = 2", "batch_size=SIZE", undefined],
    ];
    for (const [name, lines, given, expected] of cases) {
      it(name, () => assert.equal(batch(lines, given), expected));
    }

    it("comes from the callers of a function when they agree", () => {
      const text = (calls: string): string => `${head}${rest}
def make(size):
    return DataLoader(data, batch_size=size)
${calls}
${loop}`;
      assert.equal(valueOf(setupOf(text("loader = make(32)")).setup.batch), 32);
      assert.equal(valueOf(setupOf(text("loader = make(32)\ntest = make(64)")).setup.batch), undefined);
    });

    it("is that of training, not of evaluation", () => {
      const { setup } = setupOf(`${head}${rest}
loader = DataLoader(data, batch_size=16)
test_loader = DataLoader(test, batch_size=1000)
${loop}
for x, y in test_loader:
    model(x)
`);
      assert.equal(valueOf(setup.batch), 16);
    });

    it("of TrainingArguments is given or eight", () => {
      const text = (given: string): string => `
from transformers import TrainingArguments, Trainer
args = TrainingArguments(output_dir="x"${given})
Trainer(model=model, args=args).train()
`;
      assert.equal(valueOf(setupOf(text(", per_device_train_batch_size=2")).setup.batch), 2);
      assert.equal(valueOf(setupOf(text("")).setup.batch), 8);
      assert.equal(valueOf(setupOf(text(", **more")).setup.batch), undefined);
    });
  });

  describe("accumulation", () => {
    it("comes from the guard of the loop", () => {
      const { setup } = setupOf(`${head}${rest}
steps = 4
loader = DataLoader(data, batch_size=2)
for i, (x, y) in enumerate(loader):
    (criterion(model(x), y) / steps).backward()
    if (i + 1) % steps == 0:
        optimizer.step()
        optimizer.zero_grad()
`);
      assert.equal(valueOf(setup.accumulate), 4);
    });
    it("comes from a framework", () => {
      const setups = [
        "from accelerate import Accelerator\naccelerator = Accelerator(gradient_accumulation_steps=8)",
        "import lightning as L\nL.Trainer(accumulate_grad_batches=8)",
        "from transformers import TrainingArguments\na = TrainingArguments('x', gradient_accumulation_steps=8)",
      ];
      for (const text of setups) assert.equal(valueOf(setupOf(text).setup.accumulate), 8, text);
    });
  });

  describe("optimizer", () => {
    const optimizer = (construction: string): unknown =>
      valueOf(
        setupOf(`${head}
model = Net()
criterion = nn.MSELoss()
loader = DataLoader(data, batch_size=2)
${construction}
${loop}`).setup.optimizer,
      );
    it("has its constant options", () => {
      assert.deepEqual(
        optimizer("optimizer = torch.optim.SGD(model.parameters(), 0.1, 0.9, nesterov=True)"),
        {
          name: "torch.optim.SGD",
          options: { momentum: 0.9, nesterov: true },
          complete: true,
        },
      );
      assert.deepEqual(optimizer("optimizer = torch.optim.Adam(model.parameters(), amsgrad=flag())"), {
        name: "torch.optim.Adam",
        options: {},
        complete: false,
      });
    });
    it("may train parts of the model, which is the model all the same", () => {
      const made = (parameters: string): { parts: unknown; model: unknown } => {
        const { setup, source } = setupOf(`${head}
model = Net()
criterion = nn.MSELoss()
loader = DataLoader(data, batch_size=2)
decay = [p for n, p in model.named_parameters() if p.dim() > 1]
others = [p for n, p in model.named_parameters() if p.dim() < 2]
optimizer = torch.optim.SGD(${parameters}, lr=0.1)
${loop}`);
        const construction = valueOf(setup.model)?.construction;
        return {
          parts: valueOf(setup.optimizer)?.parts,
          model: construction && source.slice(construction),
        };
      };
      assert.deepEqual(made("model.head.fc.parameters()"), { parts: ["head.fc"], model: "Net()" });
      assert.deepEqual(
        made("[{'params': model.a.parameters()}, {'params': model.b.parameters(), 'lr': 1}]"),
        {
          parts: ["a", "b"],
          model: "Net()",
        },
      );
      assert.deepEqual(made("[{'params': decay}, {'params': others, 'weight_decay': 0}]"), {
        parts: undefined,
        model: "Net()",
      });
      assert.deepEqual(made("model.module.parameters()"), { parts: undefined, model: "Net()" });
    });
    it("stays unknown when there are two or it comes from elsewhere", () => {
      assert.equal(
        optimizer(
          "if a:\n    optimizer = torch.optim.SGD(model.parameters(), 0.1)\nelse:\n    optimizer = torch.optim.Adam(model.parameters())",
        ),
        undefined,
      );
      assert.equal(optimizer("optimizer = make_optimizer(model)"), undefined);
    });
    it("of TrainingArguments is looked up by its name", () => {
      const text = `from transformers import TrainingArguments\na = TrainingArguments("x", optim="adamw_bnb_8bit")`;
      assert.equal(valueOf(setupOf(text).setup.optimizer)?.name, "bitsandbytes.optim.AdamW8bit");
    });
  });

  describe("precision", () => {
    const inLoop = (context: string, before = ""): string => `${head}${rest}
loader = DataLoader(data, batch_size=2)
${before}
for x, y in loader:
    with ${context}:
        loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
`;
    const cases: readonly (readonly [string, string, string | undefined])[] = [
      ["autocast bf16", inLoop('torch.autocast("cuda", dtype=torch.bfloat16)'), "amp-bf16"],
      ["autocast default", inLoop('torch.autocast(device_type="cuda")'), "amp-fp16"],
      ["old autocast", inLoop("torch.cuda.amp.autocast()"), "amp-fp16"],
      ["autocast off", inLoop('torch.autocast("cuda", enabled=False)'), undefined],
      [
        "autocast by a flag that is off",
        inLoop("torch.cuda.amp.autocast(use_amp)", "use_amp = False"),
        undefined,
      ],
      ["autocast with an unknown type", inLoop('torch.autocast("cuda", dtype=pick())'), undefined],
      [
        "a context made before",
        inLoop("ctx", 'ctx = torch.autocast("cuda", dtype=torch.bfloat16)'),
        "amp-bf16",
      ],
      [
        "autocast in evaluation only",
        `${head}${rest}\nloader = DataLoader(data)\n${loop}\nwith torch.autocast("cuda"):\n    model(x)\n`,
        undefined,
      ],
      ["half model", `${head}${rest}\nmodel.half()\nloader = DataLoader(data)\n${loop}`, "fp16"],
      [
        "bf16 model",
        `${head}${rest}\nmodel = model.to(torch.bfloat16)\nloader = DataLoader(data)\n${loop}`,
        "bf16",
      ],
      [
        "another model",
        `${head}${rest}\nteacher = Net()\nteacher.half()\nloader = DataLoader(data)\n${loop}`,
        undefined,
      ],
      [
        "Accelerate",
        `from accelerate import Accelerator\na = Accelerator(mixed_precision="bf16")`,
        "amp-bf16",
      ],
      ["Lightning", `import lightning as L\nL.Trainer(precision="16-mixed")`, "amp-fp16"],
      ["Lightning number", `import lightning as L\nL.Trainer(precision=16)`, "amp-fp16"],
      ["Fabric", `import lightning as L\nL.Fabric(precision="bf16-true")`, "bf16"],
      ["Trainer", `from transformers import TrainingArguments as A\na = A("x", bf16=True)`, "amp-bf16"],
      [
        "Trainer unknown",
        `from transformers import TrainingArguments as A\na = A("x", fp16=cuda())`,
        undefined,
      ],
    ];
    for (const [name, text, expected] of cases) {
      it(name, () => assert.equal(valueOf(setupOf(text).setup.precision), expected));
    }
  });

  describe("loss", () => {
    const loss = (lines: string): unknown =>
      valueOf(
        setupOf(`${head}${rest}
loader = DataLoader(data)
def own(output, target):
    return (output - target).pow(2).sum()
def step(model, x, y):
    return F.nll_loss(model(x), y)
for x, y in loader:
    ${lines}
    loss.backward()
    optimizer.step()
`).setup.loss,
      );
    it("is a module, a function, or one of the file", () => {
      assert.deepEqual(loss("loss = criterion(model(x), y) / 4"), {
        name: "torch.nn.CrossEntropyLoss",
        form: "module",
        reduction: undefined,
      });
      assert.deepEqual(loss('loss = F.mse_loss(model(x), y, reduction="sum")'), {
        name: "torch.nn.functional.mse_loss",
        form: "function",
        reduction: "sum",
      });
      assert.deepEqual(loss("loss = own(model(x), y)"), {
        name: "own",
        form: "function",
        reduction: undefined,
      });
      assert.deepEqual(loss("loss = step(model, x, y)"), {
        name: "torch.nn.functional.nll_loss",
        form: "function",
        reduction: undefined,
      });
    });
    it("may be the model's own", () => {
      assert.deepEqual(loss("loss = model(x, y).loss"), {
        name: "model",
        form: "model",
        reduction: undefined,
      });
    });
    it("stays unknown for sums and foreign code", () => {
      assert.equal(loss("loss = criterion(model(x), y) + F.mse_loss(a, b)"), undefined);
      assert.equal(loss("loss = foreign(x, y)"), undefined);
    });
  });

  it("finds checkpointing and sharding", () => {
    const { setup, source } = setupOf(`${head}
from torch.utils.checkpoint import checkpoint
from torch.nn.parallel import DistributedDataParallel as DDP
model = DDP(Net())
model.gradient_checkpointing_enable()
y = checkpoint(model, x, use_reentrant=False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
`);
    assert.deepEqual(
      setup.checkpointing.map(({ form }) => form),
      ["library", "segment"],
    );
    assert.equal(valueOf(setup.shard), "ddp");
    const model = valueOf(setup.model);
    assert.equal(model?.construction && source.slice(model.construction), "Net()");
  });

  it("tells PyTorch's ZeroRedundancyOptimizer from DeepSpeed's stages, with the optimizer inside", () => {
    const { setup } = setupOf(`${head}
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP
model = DDP(Net(), gradient_as_bucket_view=True)
optimizer = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.Adam, lr=0.1, amsgrad=True)
`);
    assert.equal(valueOf(setup.shard), "zero-redundancy");
    assert.deepEqual(valueOf(setup.optimizer), {
      name: "torch.optim.Adam",
      options: { amsgrad: true },
      complete: true,
    });
    assert.equal(valueOf(setup.bucketViews), true);
  });

  it("takes gradients for views of buckets only where every wrapper says so", () => {
    const views = (text: string): unknown =>
      valueOf(
        setupOf(`${head}from torch.nn.parallel import DistributedDataParallel as DDP\n${text}`).setup
          .bucketViews,
      );
    assert.equal(views("a = DDP(Net(), gradient_as_bucket_view=True)\nb = DDP(Net())\n"), undefined);
    assert.equal(views("a = DDP(Net(), gradient_as_bucket_view=False)\n"), undefined);
    assert.equal(views("a = Net()\n"), undefined);
  });

  it("reads the ZeRO stage from a configuration in the file", () => {
    const { setup } = setupOf(`
import deepspeed
config = {"zero_optimization": {"stage": 2}}
engine, _, _, _ = deepspeed.initialize(model=net, config=config)
`);
    assert.equal(valueOf(setup.shard), "zero2");
  });

  it("the model of a library is what its call makes", () => {
    const trained = (made: string): string | undefined => {
      const { setup, source } = setupOf(
        `${head}import zoo.models\nfrom zoo import Transformer\nmodel = ${made}\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n`,
      );
      const construction = valueOf(setup.model)?.construction;
      return construction && source.slice(construction);
    };
    assert.equal(trained("Transformer(depth=4)"), "Transformer(depth=4)");
    assert.equal(trained("zoo.models.small()"), "zoo.models.small()");
    assert.equal(trained("zoo.wrap(Net())"), undefined);
  });

  describe("DeepSpeed's configuration", () => {
    const configuration = `{
    "train_micro_batch_size_per_gpu": 4,
    "gradient_accumulation_steps": 16,
    "bf16": {"enabled": true},
    "zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}, "offload_param": {"device": "none"}},
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-4}},
}`;
    const json = configuration.replace(",\n}", "\n}");
    const engine = "engine, *_ = deepspeed.initialize(model=Net(), config=";
    const forms: readonly (readonly [
      name: string,
      text: string,
      files?: Readonly<Record<string, string>>,
    ])[] = [
      ["a dictionary", `${head}import deepspeed\n${engine}${configuration.replaceAll("true", "True")})\n`],
      [
        "a dictionary with a name",
        `${head}import deepspeed\nds = ${configuration.replaceAll("true", "True")}\n${engine}ds)\n`,
      ],
      ["a file", `${head}import deepspeed\n${engine}"ds.json")\n`, { "ds.json": json }],
      [
        "a file behind a constant",
        `${head}import deepspeed\nDS = "ds.json"\n${engine}DS)\n`,
        { "ds.json": json },
      ],
      [
        "a file for the Trainer",
        `from transformers import TrainingArguments\nargs = TrainingArguments("out", deepspeed="ds.json")\n`,
        { "ds.json": json },
      ],
    ];
    for (const [name, text, files] of forms) {
      it(name, () => {
        const { setup, source } = setupOf(text, files);
        assert.equal(valueOf(setup.batch), 4);
        assert.equal(valueOf(setup.accumulate), 16);
        assert.equal(valueOf(setup.precision), "amp-bf16");
        assert.equal(valueOf(setup.shard), "zero3");
        assert.equal(valueOf(setup.offload), "optimizer");
        assert.equal(valueOf(setup.optimizer)?.name, "torch.optim.AdamW");
        const shown = source.slice(setup.batch?.span ?? { start: 0, end: 0 });
        assert.match(shown, files === undefined ? /^4$/ : /DS|ds\.json/);
      });
    }

    it("leaves `auto` to the Trainer", () => {
      const text = `from transformers import TrainingArguments\nargs = TrainingArguments("out", deepspeed="ds.json", per_device_train_batch_size=2, bf16=True)\n`;
      const { setup } = setupOf(text, {
        "ds.json": `{"train_micro_batch_size_per_gpu": "auto", "bf16": {"enabled": "auto"}, "zero_optimization": {"stage": 2}}`,
      });
      assert.equal(valueOf(setup.batch), 2);
      assert.equal(valueOf(setup.precision), "amp-bf16");
      assert.equal(valueOf(setup.shard), "zero2");
      assert.equal(setup.offload, undefined);
    });

    const spread: readonly (readonly [text: string, shard: string, offload: string | undefined])[] = [
      [
        `from accelerate import Accelerator, DeepSpeedPlugin\nplugin = DeepSpeedPlugin(zero_stage=3, offload_optimizer_device="cpu", offload_param_device="none")\naccelerator = Accelerator(deepspeed_plugin=plugin)\n`,
        "zero3",
        "optimizer",
      ],
      [
        `from accelerate import Accelerator, DeepSpeedPlugin\naccelerator = Accelerator(deepspeed_plugin=DeepSpeedPlugin())\n`,
        "zero2",
        undefined,
      ],
      [
        `import lightning as L\nfrom lightning.pytorch.strategies import DeepSpeedStrategy\ntrainer = L.Trainer(strategy=DeepSpeedStrategy(stage=3, offload_optimizer=True, offload_parameters=True))\n`,
        "zero3",
        "parameters",
      ],
      [
        `import lightning as L\ntrainer = L.Trainer(strategy="deepspeed_stage_2_offload", devices=4)\n`,
        "zero2",
        "optimizer",
      ],
    ];
    for (const [text, shard, offload] of spread) {
      it(`reads ${text.split("\n").at(-2)}`, () => {
        const { setup } = setupOf(text);
        assert.equal(valueOf(setup.shard), shard);
        assert.equal(valueOf(setup.offload), offload);
      });
    }

    it("says nothing of a file that is not there or not JSON", () => {
      const text = `${head}import deepspeed\n${engine}"ds.json")\n`;
      const broken: readonly Readonly<Record<string, string>>[] = [
        {},
        { "ds.json": "{" },
        { "ds.json": "[1]" },
      ];
      for (const files of broken) {
        const { setup } = setupOf(text, files);
        assert.equal(setup.batch, undefined);
        assert.equal(setup.shard, undefined);
      }
    });
  });
});
