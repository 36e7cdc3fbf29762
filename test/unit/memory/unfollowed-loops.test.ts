/** What the estimate says where a script does something that is not understood: lower bounds with the reason at its place. */
import assert from "node:assert/strict";
import { analyze } from "../../../server/src/analysis";
import type { ModelEstimate } from "../../../server/src/memory/estimate";
import { render } from "../../../server/src/messages/message";
import { parseModule } from "../../../server/src/python/parse";
import { loadParser } from "../../support/parser";

const imports = `import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
`;

const net = (name: string, from: number, width: number, to: number): string => `
class ${name}(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(${from}, ${width}), nn.ReLU(), nn.Linear(${width}, ${to}))
    def forward(self, x):
        return self.body(x)
`;

const loader = `
loader = DataLoader(TensorDataset(torch.randn(512, 64), torch.randint(0, 10, (512,))), batch_size=32)
`;

interface Parts {
  /** Behind the model, before the optimizer. */
  readonly made?: string;
  readonly optimizer?: string;
  /** Before the loop. */
  readonly before?: string;
  readonly loss?: string;
  /** In the loop. */
  readonly within?: string;
  readonly update?: string;
}

const usualOptimizer = "torch.optim.AdamW(model.parameters())";

function script({ made, optimizer, before, loss, within, update }: Parts): string {
  return `${imports}from elsewhere import build, change, extra, make
${net("Net", 64, 256, 10)}${loader}
model = Net().cuda()
criterion = nn.CrossEntropyLoss()
${made ?? ""}
optimizer = ${optimizer ?? usualOptimizer}
${before ?? ""}
for x, y in loader:
    x, y = x.cuda(), y.cuda()
    ${within ?? ""}
    out = model(x)
    loss = ${loss ?? "criterion(out, y)"}
    optimizer.zero_grad()
    ${update ?? "loss.backward()\n    optimizer.step()"}
`;
}

/** The same inside a function. */
function inMain(text: string): string {
  const start = text.indexOf("\nloader = ");
  const body = text.slice(start).replaceAll("\n", "\n    ");
  return `${text.slice(0, start)}\ndef main():${body}\n\nmain()\n`;
}

function estimated(text: string): ModelEstimate {
  const estimate = analyze(parseModule(text)).estimates.first();
  assert.ok(estimate !== undefined);
  return estimate;
}

interface Bound {
  readonly parts: Parts;
  readonly reason: RegExp;
  /** What stands where the reason is. */
  readonly at: string;
}

const bounds: Readonly<Record<string, Bound>> = {
  "a function that is given the model before the loop": {
    parts: { before: "change(model)" },
    reason: /^`change` may change the module it is given$/,
    at: "change(model)",
  },
  "a function that is given the batch in the loop": {
    parts: { within: "change(model, x)" },
    reason: /^the call of `elsewhere.change` is not understood$/,
    at: "change(model, x)",
  },
  "an optimizer that is not known": {
    parts: { optimizer: "make(model.parameters())" },
    reason: /^a step that is not understood: .*`elsewhere.make`/,
    at: "make(model.parameters())",
  },
  "an optimizer in a wrapper": {
    parts: { before: `optimizer = make(optimizer)` },
    reason: /^a step that is not understood: .*`elsewhere.make`/,
    at: "make(optimizer)",
  },
  "a model in a wrapper": {
    parts: { made: "model = build(model)" },
    reason: /^the call of `elsewhere.build` is not understood$/,
    at: "build(model)",
  },
  "a teacher": {
    parts: { before: "teacher = build()", within: "t = teacher(x.detach())", loss: "F.mse_loss(out, t)" },
    reason: /^the training loop is not followed to its end \(the call of `elsewhere.build`/,
    at: "build()",
  },
  "a part of the loss": {
    parts: { loss: "criterion(out, y) + extra(model)" },
    reason: /^the script's loss is not understood/,
    at: "",
  },
  "a second backward": {
    parts: { update: "extra(out).backward(retain_graph=True)\n    loss.backward()\n    optimizer.step()" },
    reason: /^the call of `elsewhere.extra` is not understood$/,
    at: "extra(out)",
  },
  "a hook": {
    parts: { before: "model.register_forward_hook(extra)" },
    reason: /^the call of `elsewhere.extra` is not understood$/,
    at: "",
  },
  "a copy of the weights": {
    parts: {
      before: "ema = make(model)",
      update: "loss.backward()\n    optimizer.step()\n    ema.update(model)",
    },
    reason: /^`ema.update` may change the module it is given$/,
    at: "ema.update(model)",
  },
};

const complete: Readonly<Record<string, Parts>> = {
  "only what is understood": {},
  "a library that shows the model": { made: "import wandb", before: "wandb.watch(model)" },
  "what is looked at by a person": { within: "print(extra(3))" },
};

describe("scripts with what is not understood", () => {
  before(loadParser);

  for (const [what, { parts, reason, at }] of Object.entries(bounds)) {
    for (const text of [script(parts), inMain(script(parts))]) {
      const where = text.includes("def main") ? "in a function" : "at the top level";
      it(`have a lower bound: ${what}, ${where}`, () => {
        const { complete: isComplete, peak, unknown } = estimated(text);
        assert.ok(peak !== null);
        assert.equal(isComplete, false);
        const found = unknown.find((one) => reason.test(render(one.reason, "en")));
        assert.ok(found, unknown.map((one) => render(one.reason, "en")).join("; "));
        if (at !== "") assert.equal(text.slice(found.span?.start, found.span?.end), at);
      });
    }
  }

  for (const [what, parts] of Object.entries(complete)) {
    for (const text of [script(parts), inMain(script(parts))]) {
      const where = text.includes("def main") ? "in a function" : "at the top level";
      it(`are complete with ${what}, ${where}`, () => {
        const { complete: isComplete, peak, unknown } = estimated(text);
        assert.deepEqual(unknown, []);
        assert.ok(isComplete && peak !== null);
      });
    }
  }

  it("have no largest micro-batch where the loop is not followed", () => {
    const { parts } = bounds["a teacher"] ?? { parts: {} };
    const { estimates } = analyze(parseModule(`# vram: device=16GiB\n${script(parts)}`));
    assert.equal(estimates.largestBatch(), undefined);
  });

  it("are complete in another precision where they train one model, else lower bounds", () => {
    const header = "# vram: precision=fp16\n";
    assert.deepEqual(estimated(header + script({})).unknown, []);
    const others = { made: "teacher = Net()", within: "t = teacher(x)", loss: "F.mse_loss(out, t)" };
    const { complete: isComplete, peak, unknown } = estimated(header + script(others));
    assert.ok(peak !== null && !isComplete);
    assert.match(
      unknown.map(({ reason }) => render(reason, "en")).join(),
      /^the training loop is not followed/,
    );
  });

  const pass = (loss: string): string => `
for x, y in loader:
    x, y = x.cuda(), y.cuda()
    out = model(x)
    loss = ${loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
`;
  const twice = (loss: string, teacher: string): string =>
    `${imports}${net("Net", 64, 256, 10)}${net("Teacher", 64, 4096, 10)}${loader}
model = Net().cuda()
${teacher}
criterion = nn.CrossEntropyLoss()
optimizer = ${usualOptimizer}
${pass("criterion(out, y)")}${pass(loss)}`;

  it("count one of several loops, and say where another is", () => {
    const text = twice("criterion(out, teacher(x).argmax(1))", "teacher = Teacher().cuda()");
    const { complete: isComplete, peak, unknown } = estimated(text);
    assert.ok(peak !== null);
    assert.equal(isComplete, false);
    const [only] = unknown;
    assert.match(
      only === undefined ? "" : render(only.reason, "en"),
      /^the script has further training loops/,
    );
    assert.match(text.slice(only?.span?.start, only?.span?.end), /^for x, y[^]*teacher/);
  });

  it("are complete where several loops train one model the same way", () => {
    assert.deepEqual(estimated(twice("criterion(out, y)", "")).unknown, []);
  });

  const adversaries = (discriminator: string): string => `${imports}from elsewhere import Data, build
${net("Generator", 64, 32, 256)}${net("Discriminator", 256, 16, 1)}
loader = DataLoader(Data(), batch_size=32)
generator = Generator().cuda()
discriminator = ${discriminator}
first = torch.optim.Adam(generator.parameters())
second = torch.optim.Adam(discriminator.parameters())
for x in loader:
    fake = generator(x.cuda())
    discriminator(fake.detach()).mean().backward()
    second.step()
    discriminator(fake).mean().backward()
    first.step()
`;
  const ofGenerator = 64 * 32 + 32 + 32 * 256 + 256;
  const ofDiscriminator = 256 * 16 + 16 + 16 + 1;

  it("have the states of all models that are trained where their data is not known", () => {
    const estimate = estimated(adversaries("Discriminator().cuda()"));
    assert.equal(estimate.name, "Generator + Discriminator");
    assert.equal(estimate.parameters.count, ofGenerator + ofDiscriminator);
    assert.equal(estimate.peak, null);
  });

  it("name the optimizers of what is trained where the step is not reached", () => {
    const text = adversaries("Discriminator().cuda()").replace(
      "torch.optim.Adam(generator",
      "torch.optim.SGD(momentum=0.9, lr=0.1, params=generator",
    );
    const { optimizer, complete: isComplete } = estimated(text);
    assert.deepEqual(optimizer, { name: "SGD + Adam", bytes: 4 * ofGenerator + 8 * ofDiscriminator });
    assert.equal(isComplete, true);
    const own = text.replace("torch.optim.Adam(discriminator", "build(discriminator");
    assert.equal(estimated(own).complete, false);
  });

  it("have a lower bound where the header asks for a type of weights and data is not known", () => {
    const { complete: isComplete, unknown } = estimated(
      `# vram: precision=fp16, optimizer=sgd\n${adversaries("Discriminator().cuda()")}`,
    );
    assert.equal(isComplete, false);
    assert.match(
      unknown.map(({ reason }) => render(reason, "en")).join(),
      /^the training loop is not followed to its end \(a type of weights/,
    );
  });

  const wrapped = (call: string, header = ""): ModelEstimate =>
    estimated(
      `${header}${imports}from elsewhere import Data, Wrapper\n${net("Net", 64, 16, 10)}
net = Net().cuda()
model = Wrapper(net)
optimizer = torch.optim.Adam(net.parameters())
for x, y in DataLoader(Data(), batch_size=32):
    loss = F.cross_entropy(${call}, y.cuda())
    loss.backward()
    optimizer.step()
`,
    );
  for (const call of ["model(x.cuda())", "model.forward(x.cuda())"])
    for (const header of ["", "# vram: input=float32[B,64]\n"])
      it(`say that a wrapper is in none of the figures: ${call}, ${header === "" ? "no header" : "with its input"}`, () => {
        const { complete: isComplete, unknown } = wrapped(call, header);
        assert.equal(isComplete, false);
        assert.match(
          unknown.map(({ reason }) => render(reason, "en")).join("; "),
          /`model` is a model that is not known, and in none of the figures: the call of `elsewhere.Wrapper`/,
        );
      });

  it("have a lower bound under DistributedDataParallel until somebody says on how many devices", () => {
    const made = "model = nn.parallel.DistributedDataParallel(model)";
    const alone = estimated(script({ made }));
    assert.equal(alone.complete, false);
    assert.match(
      alone.unknown.map(({ reason }) => render(reason, "en")).join(),
      /^DistributedDataParallel keeps the gradients a second time/,
    );
    const two = estimated(`# vram: devices=2\n${script({ made })}`);
    assert.deepEqual(two.unknown, []);
    assert.equal(two.peak?.bytes, (alone.peak?.bytes ?? 0) + alone.gradients.bytes);
    const views = made.replace("(model)", "(model, gradient_as_bucket_view=True)");
    assert.deepEqual(estimated(script({ made: views })).unknown, []);
  });

  it("need nothing of a wrapper that is not called", () => {
    assert.equal(wrapped("net(x.cuda())").complete, true);
  });

  it("say which model is in none of the figures", () => {
    const text = adversaries("build().cuda()");
    const estimate = estimated(text);
    assert.equal(estimate.parameters.count, ofGenerator);
    assert.equal(estimate.complete, false);
    const texts = estimate.unknown.map((one) => render(one.reason, "en"));
    assert.ok(
      texts.includes(
        "`discriminator` is a model that is not known, and in none of the figures: the call of `elsewhere.build` is not understood",
      ),
      texts.join("; "),
    );
  });

  it("are complete where arrays on the host go to functions that are not known", () => {
    const plain = estimated(script({}));
    const measuring = script({
      within:
        "pass\n    predicted = model(x).detach().cpu().numpy()\n    score = extra(y.cpu().numpy(), predicted.argmax(axis=1))",
    });
    const one = estimated(measuring);
    assert.equal(one.complete, true, one.unknown.map(({ reason }) => render(reason, "en")).join("; "));
    assert.equal(plain.complete, true);
    // the same with the tensors themselves
    assert.equal(estimated(measuring.replaceAll(".cpu().numpy()", "")).complete, false);
  });

  it("name a model that is not known as the script does where it is used as one", () => {
    const text = script({
      before: "def adapted(learner, x, y):\n    return criterion(learner(x), y)",
      within: "error = adapted(build(model), x, y)",
    });
    const texts = estimated(text).unknown.map((one) => render(one.reason, "en"));
    assert.match(texts.join("; "), /`learner` is a model that is not known/);
    assert.doesNotMatch(texts.join("; "), /`error` is a model/);
  });

  it("say the same of a model of which no part is known", () => {
    const text = adversaries("Discriminator(build()).cuda()").replace(
      /class Discriminator\(nn.Module\):[^]*?def forward/,
      "class Discriminator(nn.Module):\n    def __init__(self, h):\n        super().__init__()\n" +
        "        self.body = nn.Sequential(*[nn.Linear(256, n) for n in h.sizes])\n    def forward",
    );
    const estimate = estimated(text);
    assert.equal(estimate.parameters.count, ofGenerator);
    assert.equal(estimate.complete, false);
    const texts = estimate.unknown.map((one) => render(one.reason, "en"));
    assert.match(
      texts.join("; "),
      /`discriminator` is a model that is not known, and in none of the figures/,
    );
  });
});
