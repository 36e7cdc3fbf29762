import assert from "node:assert/strict";
import { parseModule } from "../../../server/src/python/parse";
import { buildScopes } from "../../../server/src/python/scope";
import type { Source } from "../../../server/src/python/source";
import { torchFacts } from "../../../server/src/torch/facts";
import type { TorchFacts } from "../../../server/src/torch/facts";
import type { TraceEvent, TrainingLoop } from "../../../server/src/torch/training-loop";
import { identify, zeroingReaches } from "../../../server/src/torch/training-loop";
import { judgeLoss } from "../../../server/src/torch/training-loop/loss";
import { loadParser } from "../../support/parser";

interface Facts {
  readonly torch: TorchFacts;
  readonly source: Source;
  readonly loops: readonly TrainingLoop[];
}

function factsOf(text: string): Facts {
  const parsed = parseModule(text);
  const torch = torchFacts(parsed.module, buildScopes(parsed.module));
  const { loops } = torch.trainingLoops;
  return { torch, source: parsed.source, loops };
}

function onlyLoop(text: string): Facts & { readonly loop: TrainingLoop } {
  const facts = factsOf(text);
  const [loop, other] = facts.loops;
  assert.ok(loop !== undefined && other === undefined, `${facts.loops.length} loops instead of one`);
  return { ...facts, loop };
}

/** Lines from 1 of events, with the subject where there is one. */
function places(source: Source, events: readonly TraceEvent[]): string[] {
  return events.map(({ node, subject }) => {
    const line = source.lineOf(node.start) + 1;
    return subject === undefined ? String(line) : `${line} ${source.slice(subject)}`;
  });
}

const head = `import torch
from torch import nn
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.MSELoss()
loader = torch.utils.data.DataLoader(data, batch_size=8)
k = 4
`;

describe("training loops", () => {
  before(loadParser);

  describe("finding them", () => {
    it("sees loop, epoch loop, loader and the order of things", () => {
      const { loop, source } = onlyLoop(`${head}
for epoch in range(3):
    for i, (x, y) in enumerate(tqdm(loader)):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
`);
      assert.equal(source.lineOf(loop.loop.start) + 1, 10);
      assert.equal(loop.outerLoop && source.lineOf(loop.outerLoop.start) + 1, 9);
      assert.equal(loop.loader && source.slice(loop.loader), "loader");
      assert.deepEqual(
        loop.events.map(({ kind }) => kind),
        ["zeroing", "backward", "clip", "optimizer-step"],
      );
      assert.equal(loop.accumulation, undefined);
      assert.equal(loop.certainty, "resolved");
    });

    it("costs nothing without a backward", () => {
      assert.deepEqual(factsOf(`${head}\nfor x, y in loader:\n    optimizer.step()\n`).loops, []);
    });

    it("finds the loader behind next(iterator) in a loop over steps", () => {
      const { loop, source } = onlyLoop(`${head}
batches = iter(loader)
for step in range(1000):
    x, y = next(batches)
    optimizer.zero_grad()
    criterion(model(x), y).backward()
    optimizer.step()
`);
      assert.equal(loop.loader && source.slice(loop.loader), "loader");
      assert.equal(loop.isEpochLoop, false);
    });

    it("follows functions, methods and closures of the file", () => {
      const { loop, source } = onlyLoop(`${head}
class Trainer:
    def __init__(self):
        self.opt = torch.optim.Adam(model.parameters())
    def fit(self, batches):
        for x, y in batches:
            self.one(x, y)
    def one(self, x, y):
        self.reset()
        def closure():
            loss = criterion(model(x), y)
            loss.backward()
            return loss
        self.opt.step(closure)
    def reset(self):
        self.opt.zero_grad()
`);
      assert.equal(source.lineOf(loop.loop.start) + 1, 13);
      assert.deepEqual(
        loop.events.map(({ kind }) => kind),
        ["zeroing", "backward", "optimizer-step"],
      );
    });

    it("takes the loop around when only the backward is in the inner one", () => {
      const { loop, source } = onlyLoop(`${head}
for start in range(100):
    optimizer.zero_grad()
    for micro in range(accumulation_steps):
        (criterion(model(x), y) / k).backward()
    optimizer.step()
`);
      assert.equal(source.lineOf(loop.loop.start) + 1, 9);
      assert.equal(loop.microLoop && source.lineOf(loop.microLoop.start) + 1, 11);
      assert.equal(loop.accumulation?.form, "micro-loop");
    });

    it("reaches one loop from each of its beginnings", () => {
      const { torch } = factsOf(`${head}
def train(opt):
    for x, y in loader:
        criterion(model(x), y).backward()
        opt.step()
def a():
    train(optimizer)
def b():
    train(torch.optim.Adam(model.parameters()))
`);
      const [group] = [...torch.trainingLoops.byLoop.values()];
      assert.equal(group?.length, 2);
    });

    it("ends on recursion", () => {
      const { loop } = onlyLoop(`${head}
def again(x, n):
    for y in loader:
        criterion(model(x), y).backward()
        optimizer.step()
        if n:
            again(x, n - 1)
`);
      assert.equal(loop.backwards.length, 1);
    });
  });

  describe("what counts as what", () => {
    const inLoop = (line: string): TraceEvent | undefined => {
      const { loop } = onlyLoop(`${head}
scaler = torch.amp.GradScaler()
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
for x, y in loader:
    loss = criterion(model(x), y)
    loss.backward()
    for p in model.parameters():
        ${line}
`);
      return loop.events.filter(({ kind }) => kind !== "backward").at(-1);
    };
    const cases: readonly (readonly [string, string | undefined, string?])[] = [
      ["optimizer.zero_grad(set_to_none=True)", "zeroing", "optimizer"],
      ["model.zero_grad()", "zeroing", "model"],
      ["p.grad = None", "zeroing", "gradient"],
      ["p.grad.zero_()", "zeroing", "gradient"],
      ["p.grad.data.zero_()", "zeroing", "gradient"],
      ["p.grad *= 0", "zeroing", "gradient"],
      ["del p.grad", "zeroing", "gradient"],
      ['setattr(p, "grad", None)', "zeroing", "gradient"],
      ["p.grad /= k", "gradient-scaling"],
      ["p.grad.data.div_(k)", "gradient-scaling"],
      ["p.grad = p.grad / k", "gradient-scaling"],
      ["norms.append(p.grad.norm())", "gradient-read"],
      ["p.register_hook(print)", "gradient-hook"],
      ["scaler.step(optimizer)", "optimizer-step", "optimizer"],
      ["scaler.update()", "scaler-update"],
      ["scaler.unscale_(optimizer)", "unscale"],
      ["scheduler.step()", "scheduler-step"],
      ["nn.utils.clip_grad_value_(model.parameters(), 1)", "clip"],
      ["helper(optimizer)", "unknown-code", "optimizer"],
      ["helper(model.parameters())", "unknown-code", "model"],
      ["save_checkpoint(model)", undefined],
      ["torch.save(model, path)", undefined],
      ["torch.autograd.grad(loss, p)", undefined],
      ["environment.step(action)", undefined],
    ];
    for (const [line, kind, of] of cases) {
      it(`${line} is ${kind ?? "nothing"}`, () => {
        const event = inLoop(line);
        assert.equal(event?.kind, kind);
        if (of !== undefined) assert.equal(event?.of, of);
      });
    }

    const backwards: readonly (readonly [string, string])[] = [
      ["loss.backward()", "loss"],
      ["scaler.scale(loss).backward()", "loss"],
      ["torch.autograd.backward(loss)", "loss"],
      ["accelerator.backward(loss)", "loss"],
      ["self.manual_backward(loss)", "loss"],
    ];
    for (const [line, subject] of backwards) {
      it(`${line} is a backward of ${subject}`, () => {
        const { loop, source } = onlyLoop(`${head}
scaler = torch.amp.GradScaler()
for x, y in loader:
    loss = criterion(model(x), y)
    ${line}
    optimizer.step()
`);
        assert.deepEqual(places(source, loop.backwards), [`12 ${subject}`]);
      });
    }

    it("sees through apex's scale_loss", () => {
      const { loop, source } = onlyLoop(`${head}
from apex import amp
for x, y in loader:
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
`);
      assert.deepEqual(places(source, loop.backwards), ["13 loss"]);
      assert.deepEqual(loop.unknownCode, []);
    });
  });

  describe("the accumulation guard", () => {
    const guarded = (guard: string, before = ""): TrainingLoop =>
      onlyLoop(`${head}
count = 0
for i, (x, y) in enumerate(loader):
    ${before || "pass"}
    (criterion(model(x), y) / k).backward()
    count += 1
    ${guard}
`).loop;
    const update = "\n        optimizer.step()\n        optimizer.zero_grad()\n        count = 0";
    const forms: readonly (readonly [string, string | undefined])[] = [
      [`if (i + 1) % k == 0:${update}`, "modulus"],
      [`if not (i + 1) % k:${update}`, "modulus"],
      [`if (i + 1) % k == 0 or i + 1 == len(loader):${update}`, "modulus"],
      [`if i % k == k - 1:${update}`, "modulus"],
      [`if (i + 1) % k:\n        continue\n    optimizer.step()`, "modulus"],
      [`if (i + 1) % k != 0:\n        pass\n    else:${update}`, "modulus"],
      [`if count == k:${update}`, "counter"],
      [`if ready := (i + 1) % k == 0:${update}`, "modulus"],
      [`if accelerator.sync_gradients:${update}`, "accelerate"],
      // No accumulation: bad steps, other guards.
      [`if math.isfinite(norm):${update}`, undefined],
      [`if epoch % 2 == 0:${update}`, undefined],
      [`if i > 10:${update}`, undefined],
      [`if (i + 1) % 1 == 0:${update}`, undefined],
      [`optimizer.step()\n    if i % 100 == 0:\n        print(i)`, undefined],
    ];
    for (const [guard, form] of forms) {
      it(`${guard.split("\n")[0]} is ${form ?? "none"}`, () => {
        const { accumulation } = guarded(guard);
        assert.equal(accumulation?.form, form);
        if (form === "modulus" || form === "counter") {
          assert.ok(accumulation !== undefined);
          assert.equal(accumulation.steps?.kind, "Name");
          assert.equal(accumulation.guardedSteps.length, 1);
        }
      });
    }

    it("reads a flag set before", () => {
      const loop = guarded(`if sync:${update}`, "sync = (i + 1) % k == 0");
      assert.equal(loop.accumulation?.form, "modulus");
    });

    it("sees a backward in either arm of no_sync", () => {
      const { loop } = onlyLoop(`${head}
for i, (x, y) in enumerate(loader):
    if (i + 1) % k != 0:
        with model.no_sync():
            (criterion(model(x), y) / k).backward()
    else:
        (criterion(model(x), y) / k).backward()
        optimizer.step()
        optimizer.zero_grad()
`);
      assert.equal(loop.accumulation?.form, "modulus");
    });

    it("does not take a generator trained every n-th batch for accumulation", () => {
      const { loop } = onlyLoop(`${head}
other = torch.optim.Adam(net.parameters())
for i, (x, y) in enumerate(loader):
    optimizer.zero_grad()
    criterion(model(x), y).backward()
    optimizer.step()
    if i % 5 == 0:
        other.zero_grad()
        criterion(net(x), y).backward()
        other.step()
`);
      assert.equal(loop.accumulation, undefined);
    });
  });

  describe("which optimizer", () => {
    const related = (zeroing: string, step: string): string => {
      const { torch, loop } = onlyLoop(`${head}
net = nn.Linear(4, 1)
other = torch.optim.Adam(net.parameters())
both = [optimizer, other]
def reset(which):
    which.zero_grad()
for x, y in loader:
    ${zeroing}
    criterion(model(x), y).backward()
    ${step}
`);
      const [first] = loop.zeroings;
      const [second] = loop.steps;
      assert.ok(first !== undefined && second !== undefined);
      return zeroingReaches(torch.resolve, first, second);
    };
    it("knows the same and another", () => {
      assert.equal(related("optimizer.zero_grad()", "optimizer.step()"), "same");
      assert.equal(related("other.zero_grad()", "optimizer.step()"), "different");
      assert.equal(related("alias = optimizer\n    alias.zero_grad()", "optimizer.step()"), "same");
    });
    it("follows parameters of helpers and members of lists", () => {
      assert.equal(related("reset(optimizer)", "optimizer.step()"), "same");
      assert.equal(related("reset(other)", "optimizer.step()"), "different");
      assert.equal(related("for o in both:\n        o.zero_grad()", "optimizer.step()"), "same");
    });
    it("matches a model with the optimizer of its parameters, and guesses nothing else", () => {
      assert.equal(related("model.zero_grad()", "optimizer.step()"), "same");
      assert.equal(related("net.zero_grad()", "optimizer.step()"), "unknown");
      assert.equal(related("thing.zero_grad()", "optimizer.step()"), "unknown");
    });
    it("finds the construction behind a parameter", () => {
      const { torch, loop, source } = onlyLoop(`${head}
def train(opt):
    for x, y in loader:
        criterion(model(x), y).backward()
        opt.step()
train(optimizer)
`);
      const [step] = loop.steps;
      assert.ok(step?.subject !== undefined);
      const [construction] = identify(torch.resolve, step.subject, step.places).constructions;
      assert.ok(construction !== undefined);
      assert.equal(source.lineOf(construction.start) + 1, 4);
    });
  });

  describe("whether a loss is divided", () => {
    const verdict = (lines: string, loss = "loss"): string => {
      const { torch, loop } = onlyLoop(`${head}
import torch.nn.functional as F
summed = nn.MSELoss(reduction="sum")
def helper(x, y):
    return criterion(model(x), y) / k
def plain(x, y):
    out = model(x)
    return F.cross_entropy(out, y), out
for x, y in loader:
    ${lines}
    ${loss}.backward()
    optimizer.step()
`);
      const [backward] = loop.backwards;
      assert.ok(backward?.subject !== undefined);
      return judgeLoss(torch.resolve, backward.subject, backward.places).verdict;
    };
    const means: readonly string[] = [
      "loss = criterion(model(x), y)",
      "loss = F.mse_loss(model(x), y)",
      "loss = ((model(x) - y) ** 2).mean()",
      "loss, out = plain(x, y)",
      "loss = criterion(model(x), y) + weight * model.penalty()",
      "loss = 0\n    loss += criterion(model(x), y)",
      "loss = criterion(model(x), y).to(torch.float32)",
    ];
    for (const lines of means)
      it(`a mean: ${lines.replace("\n   ", ";")}`, () => assert.equal(verdict(lines), "mean"));
    const others: readonly string[] = [
      "loss = criterion(model(x), y) / k",
      "loss = criterion(model(x), y)\n    loss = loss / k",
      "loss = criterion(model(x), y)\n    loss /= k",
      "loss = criterion(model(x), y) * (1 / k)",
      "loss = criterion(model(x), y) * scale",
      "loss = criterion(model(x), y).div(k)",
      "loss = helper(x, y)",
      "loss = summed(model(x), y)",
      "loss = F.mse_loss(model(x), y, reduction='none').sum()",
      "loss = (losses * mask).sum() / mask.sum()",
      "loss = imported(model, x, y)",
    ];
    for (const lines of others)
      it(`not known to be one: ${lines.replace("\n   ", ";")}`, () => assert.equal(verdict(lines), "other"));
  });

  describe("loops over batches", () => {
    const isBatchLoop = (text: string): boolean[] => {
      const parsed = parseModule(text);
      const torch = torchFacts(parsed.module, buildScopes(parsed.module));
      const found: boolean[] = [];
      for (const statement of parsed.module.body) {
        if (statement.kind === "For" || statement.kind === "While") {
          found.push(torch.trainingLoops.isBatchLoop(statement));
        }
      }
      return found;
    };
    it("tells batches from epochs and models", () => {
      assert.deepEqual(
        isBatchLoop(`${head}
for x, y in loader:
    model(x)
for epoch in range(3):
    run()
for name in names:
    run(name)
while step < 100:
    criterion(model(x), y).backward()
    optimizer.step()
for epoch in range(10):
    criterion(model(x), y).backward()
    optimizer.step()
`),
        [true, false, false, true, false],
      );
    });
  });

  it("survives code that makes no sense", () => {
    for (const text of [
      "for x in y:\n  loss.backward(\n  optimizer.step()",
      "def f(:\n  .backward()",
      "class A(A):\n  def f(self):\n    for x in self: self.f().backward(); self.opt.step()",
      "f = lambda: f()\nfor x in y:\n  opt.step(f)\n  x.backward()",
      `${"if a:\n".split("\n")[0]}\n`,
    ]) {
      factsOf(text);
    }
  });
});
