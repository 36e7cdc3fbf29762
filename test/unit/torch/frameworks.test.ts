import assert from "node:assert/strict";
import { parseModule } from "../../../server/src/python/parse";
import { buildScopes } from "../../../server/src/python/scope";
import { torchFacts } from "../../../server/src/torch/facts";
import { frameworkMadeBy, frameworks, type FrameworkName } from "../../../server/src/torch/frameworks";
import { loadParser } from "../../support/parser";

/** The frameworks of all classes and of all objects made in a text, by name. */
function found(text: string): {
  readonly classes: (FrameworkName | undefined)[];
  readonly made: FrameworkName[];
} {
  const parsed = parseModule(text);
  const torch = torchFacts(parsed.module, buildScopes(parsed.module));
  const classes = torch.resolve.index.classes.map((owner) => torch.frameworks.ofClass(owner)?.name);
  const made = torch.frameworks.made.map(({ framework }) => framework.name);
  return { classes, made };
}

describe("frameworks", () => {
  before(loadParser);

  it("are recognised by the name of what makes their objects", () => {
    const makers: readonly (readonly [string, FrameworkName | undefined])[] = [
      ["accelerate.Accelerator", "accelerate"],
      ["lightning.fabric.Fabric", "fabric"],
      ["lightning.pytorch.Trainer", "lightning"],
      ["deepspeed.initialize", "deepspeed"],
      ["transformers.Seq2SeqTrainer", "hf-trainer"],
      ["trl.SFTTrainer", "hf-trainer"],
      ["sentence_transformers.trainer.SentenceTransformerTrainer", "hf-trainer"],
      ["torch.distributed.fsdp.FullyShardedDataParallel", "fsdp"],
      ["torch.distributed.fsdp.fully_shard", "fsdp"],
      ["ignite.engine.create_supervised_trainer", "ignite"],
      ["fastai.vision.all.vision_learner", "fastai"],
      ["composer.Trainer", "composer"],
      ["mmengine.runner.Runner", "mmengine"],
      // An engine of one's own function does nothing by itself; a loader is no trainer.
      ["ignite.engine.Engine", undefined],
      ["torch.utils.data.DataLoader", undefined],
      ["my.Trainer", undefined],
    ];
    for (const [name, expected] of makers) assert.equal(frameworkMadeBy(name)?.name, expected, name);
  });

  it("are recognised by aliases, base classes and bases of bases", () => {
    const { classes, made } = found(`
import lightning as L
import pytorch_lightning as pl
from accelerate import Accelerator as Acc
from transformers import Trainer
class A(L.LightningModule): pass
class B(A): pass
class C(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
class D(Trainer): pass
class E: pass
acc = Acc(gradient_accumulation_steps=4)
trainer = D()
other = E()
`);
    assert.deepEqual(classes, ["lightning", "lightning", "lightning-manual", "hf-trainer", undefined]);
    assert.deepEqual(made, ["accelerate", "hf-trainer"]);
  });

  it("of objects are known through variables and attributes", () => {
    const parsed = parseModule(`
import deepspeed
from accelerate import Accelerator
class Run:
    def __init__(self):
        self.accelerator = Accelerator()
    def go(self, loss):
        self.accelerator.backward(loss)
engine, optimizer, _, _ = deepspeed.initialize(model=net)
engine.backward(loss)
loss.backward()
`);
    const torch = torchFacts(parsed.module, buildScopes(parsed.module));
    const owners = (torch.resolve.index.callsByName.get("backward") ?? []).map(({ callee }) =>
      callee.kind === "Attribute" ? torch.frameworks.ofObject(callee.object)?.name : undefined,
    );
    assert.deepEqual(owners, ["accelerate", "deepspeed", undefined]);
  });

  it("say who zeroes, scales and steps", () => {
    const duties = (name: FrameworkName): readonly string[] => {
      const table = frameworks[name].duties;
      return [table.zeroing, table["loss-scaling"], table.stepping, table["no-grad-in-evaluation"]];
    };
    assert.deepEqual(duties("lightning"), ["always", "always", "always", "always"]);
    assert.deepEqual(duties("lightning-manual"), ["never", "never", "never", "always"]);
    assert.deepEqual(duties("accelerate"), ["never", "configured", "never", "never"]);
    assert.deepEqual(duties("fabric"), ["never", "never", "never", "never"]);
    assert.deepEqual(duties("deepspeed"), ["always", "always", "always", "never"]);
  });
});
