/** Facts about devices and loaded checkpoints. */
import assert from "node:assert/strict";
import { parseModule } from "../../../server/src/python/parse";
import { buildScopes } from "../../../server/src/python/scope";
import type { Source } from "../../../server/src/python/source";
import { torchFacts, type TorchFacts } from "../../../server/src/torch/facts";
import { gpuEvidence } from "../../../server/src/torch/gpu";
import { followLoaded } from "../../../server/src/torch/loaded";
import { loadParser } from "../../support/parser";

function factsOf(text: string): { readonly torch: TorchFacts; readonly source: Source } {
  const parsed = parseModule(`import torch\nfrom torch import nn\n${text}`);
  const torch = torchFacts(parsed.module, buildScopes(parsed.module));
  return { torch, source: parsed.source };
}

function evidenceIn(text: string): string | undefined {
  const { torch, source } = factsOf(text);
  const place = gpuEvidence(torch);
  return place && source.slice(place);
}

describe("gpuEvidence", () => {
  before(loadParser);

  it("sees models and tensors that move", () => {
    assert.equal(evidenceIn("model = nn.Linear(1, 1).cuda()"), "nn.Linear(1, 1).cuda()");
    assert.equal(evidenceIn('device = torch.device("cuda:0" if x else "cpu")'), '"cuda:0"');
    assert.equal(evidenceIn('x = x.to(f"cuda:{rank}")'), 'f"cuda:{rank}"');
    assert.equal(evidenceIn("torch.cuda.set_device(rank)"), "torch.cuda.set_device(rank)");
  });

  it("sees frameworks that place models, where they are told to", () => {
    assert.equal(evidenceIn("from accelerate import Accelerator\na = Accelerator()"), "Accelerator()");
    const trainer = "from lightning.pytorch import Trainer\n";
    assert.equal(evidenceIn(`${trainer}t = Trainer(accelerator="gpu")`), 'Trainer(accelerator="gpu")');
    assert.equal(evidenceIn(`${trainer}t = Trainer()`), undefined);
  });

  it("does not take what is only compared or offered", () => {
    assert.equal(evidenceIn('if device == "cuda": print("no")'), undefined);
    assert.equal(evidenceIn('p.add_argument("--device", choices=["cpu", "cuda"])'), undefined);
    assert.equal(evidenceIn('model = nn.Linear(1, 1).to("cpu")\ntorch.cuda.manual_seed(1)'), undefined);
  });
});

function followed(text: string): {
  copies: string[];
  takenOver: string[];
  onlyCopied: boolean;
  holders: string[];
} {
  const { torch, source } = factsOf(text);
  const [load] = torch.resolve.index.callsByName.get("load") ?? [];
  assert.ok(load);
  const found = followLoaded(torch.resolve, load);
  const texts = (nodes: readonly { start: number; end: number }[]): string[] =>
    nodes.map((node) => source.slice(node));
  return {
    copies: texts(found.copies),
    takenOver: texts(found.takenOver),
    onlyCopied: found.onlyCopied,
    holders: texts(found.holders),
  };
}

describe("followLoaded", () => {
  before(loadParser);

  const model = "model = nn.Linear(1, 1)\n";

  it("follows variables, keys, renamed copies and plain values", () => {
    const found = followed(
      `${model}ckpt = torch.load(p)\nstate = {k[7:]: v for k, v in ckpt["model"].items()}\n` +
        'model.load_state_dict(state)\nepoch = ckpt["epoch"]\nprint(ckpt.get("args"))',
    );
    assert.deepEqual(found, {
      copies: ["model.load_state_dict(state)"],
      takenOver: [],
      onlyCopied: true,
      holders: ["ckpt"],
    });
  });

  it("follows helpers in both directions", () => {
    const found = followed(
      `${model}def read(path):\n    return torch.load(path)\n` +
        "def restore(weights):\n    model.load_state_dict(weights)\nrestore(read(p))",
    );
    assert.deepEqual(found.copies, ["model.load_state_dict(weights)"]);
    assert.equal(found.onlyCopied, true);
  });

  it("keeps optimizers apart and leaves out states without tensors", () => {
    const found = followed(
      `${model}opt = torch.optim.SGD(model.parameters(), lr=1)\nsched = torch.optim.lr_scheduler.StepLR(opt, 1)\n` +
        'c = torch.load(p)\nopt.load_state_dict(c["optimizer"])\nsched.load_state_dict(c["scheduler"])',
    );
    assert.deepEqual([found.copies, found.takenOver], [[], ['opt.load_state_dict(c["optimizer"])']]);
  });

  it("says where tensors are used in another way", () => {
    const found = followed(
      `${model}c = torch.load(p)\nmodel.load_state_dict(c["model"])\nqueue = f(c["queue"])`,
    );
    assert.equal(found.onlyCopied, false);
  });

  it("finds no copy in data, whole models and assigned states", () => {
    assert.deepEqual(followed("data, labels = torch.load(p)").copies, []);
    assert.deepEqual(followed("model = torch.load(p)\nmodel(x)").copies, []);
    assert.deepEqual(followed(`${model}model.load_state_dict(torch.load(p), assign=True)`).copies, []);
  });

  it("comes to an end where variables go round", () => {
    const found = followed(`${model}a = torch.load(p)\nb = a\na = b\nmodel.load_state_dict(a)`);
    assert.deepEqual(found.copies, ["model.load_state_dict(a)"]);
  });
});
