/** Configuration files that a script names: their values count as if they stood in the script. */
import assert from "node:assert/strict";
import { analyze } from "../../../server/src/analysis";
import { render } from "../../../server/src/messages/message";
import { parseModule } from "../../../server/src/python/parse";
import { loadParser } from "../../support/parser";

const imports = `import argparse, json, yaml
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
`;

const training = `
def train(width, batch_size, bias=True):
    model = nn.Linear(width, width, bias=bias)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for (x,) in DataLoader(TensorDataset(torch.zeros(512, width)), batch_size=batch_size):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), x)
        loss.backward()
        optimizer.step()
`;

const parser = `
parser = argparse.ArgumentParser()
parser.add_argument("--config", default="config.yaml")
parser.add_argument("--batch-size", type=int, default=4)
parser.add_argument("--width", type=int, default=4)
args = parser.parse_args()
`;

const files: Readonly<Record<string, string>> = {
  "config.yaml": "model: {width: 8, bias: no}\ntrain:\n  batch_size: 32\n",
  "flat.yaml": "width: 8\nbatch_size: 32\n",
  "config.json": `{"width": 8, "batch_size": 32, "layers": [{"size": 8}]}`,
  "conf/main.yaml": "defaults:\n  - model: small\n  - _self_\nbatch_size: ${data.batch}\ndata: {batch: 32}\n",
  "conf/model/small.yaml": "width: 8\nbias: true\n",
  "conf/model/large.yaml": "width: 80\nbias: true\n",
  "conf/net.yaml": "net:\n  _target_: torch.nn.Linear\n  in_features: 8\n  out_features: 8\nbatch: 32\n",
};

interface Figures {
  readonly parameters: number | undefined;
  readonly batch: number | undefined;
  readonly complete: boolean | undefined;
}

function figures(text: string): Figures {
  const analysis = analyze(parseModule(text), { select: [], readBeside: (name) => files[name] });
  const model = analysis.estimates.first();
  return {
    parameters: model?.notBuilt === true ? undefined : model?.parameters.count,
    batch: analysis.setup.batch?.value,
    complete: model?.complete,
  };
}

const known = { parameters: 72, batch: 32, complete: true };

describe("configuration files that a script names", () => {
  before(loadParser);

  const ways: Readonly<Record<string, string>> = {
    "PyYAML and an argument's default": `${parser}
with open(args.config, "r") as f:
    cfg = yaml.safe_load(f)
train(cfg["model"]["width"], cfg["train"]["batch_size"], not cfg["model"]["bias"])`,
    "json and a class whose attributes are its keys": `
class Settings(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__ = self
with open("config.json") as f:
    text = f.read()
h = Settings(json.loads(text))
h.batch = h.batch_size
train(h["width"], h.batch)`,
    "json with objects of the script's own": `
from types import SimpleNamespace
h = json.load(open("config.json"), object_hook=lambda entries: SimpleNamespace(**entries))
train(h.layers[0].size, h.batch_size)`,
    OmegaConf: `
from omegaconf import OmegaConf
cfg = OmegaConf.merge(OmegaConf.load("config.yaml"), {"model": {"bias": True}}, OmegaConf.from_cli())
train(batch_size=cfg.train.batch_size, **cfg.model)`,
    EasyDict: `
from easydict import EasyDict as edict
from pathlib import Path
cfg = edict(yaml.load(open(Path(__file__).parent / "flat.yaml"), Loader=yaml.FullLoader))
cfg.width = cfg["width"]
train(cfg.width, cfg.batch_size)`,
    yacs: `
from yacs.config import CfgNode as CN
_C = CN()
_C.width = 1
_C.batch_size = 2
cfg = _C.clone()
cfg.merge_from_file("flat.yaml")
cfg.freeze()
train(cfg.width, cfg.batch_size)`,
    Hydra: `
import hydra
@hydra.main(version_base=None, config_path="conf", config_name="main")
def main(cfg):
    train(cfg.model.width, cfg.batch_size)
if __name__ == "__main__":
    main()`,
    "Hydra's _target_": `
import hydra
@hydra.main(config_path="conf", config_name="net")
def main(cfg):
    net = hydra.utils.instantiate(cfg.net)
    train(net.weight.size(0), cfg.batch)
main()`,
  };
  for (const [title, code] of Object.entries(ways)) {
    it(`are read with ${title}`, () => {
      assert.deepEqual(figures(`${imports}${training}${code}\n`), known);
    });
  }

  const made = [
    "model = hydra.utils.instantiate(cfg.net)",
    "model = hydra.utils.instantiate(cfg.net).cuda().train()",
    "model = hydra.utils.instantiate(cfg.net)\n    model = model.to('cuda')",
    "model = hydra.utils.instantiate(cfg.net, _recursive_=False, _convert_='all')",
  ];
  for (const model of made) {
    for (const header of ["", "# vram: input=float32[B,8], batch=32\n"]) {
      it(`make the model that is trained: ${model}${header === "" ? "" : ", with a header"}`, () => {
        const text = `${header}${imports}import hydra
@hydra.main(config_path="conf", config_name="net")
def main(cfg):
    ${model}
    criterion = nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in DataLoader(TensorDataset(torch.zeros(512, 8), torch.zeros(512, 8)), batch_size=cfg.batch):
        out = model(x)
        loss = criterion(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
main()
`;
        const { estimates } = analyze(parseModule(text), { select: [], readBeside: (name) => files[name] });
        const estimate = estimates.first();
        assert.deepEqual(estimate?.unknown, []);
        assert.equal(estimate.parameters.count, known.parameters);
        assert.ok(estimate.complete && estimate.peak !== null);
        assert.ok(estimate.assumptions.some(({ key, value }) => key === "batch" && value === "32"));
      });
    }
  }

  it("make the parts of a LightningModule that a new trainer is given at once", () => {
    const text = `${imports}import hydra
import lightning as L
class Lit(L.LightningModule):
    def __init__(self, net):
        super().__init__()
        self.net = net
    def training_step(self, batch, i):
        x, y = batch
        return nn.functional.mse_loss(self.net(x), y)
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
@hydra.main(config_path="conf", config_name="net")
def main(cfg):
    loader = DataLoader(TensorDataset(torch.zeros(512, 8), torch.zeros(512, 8)), batch_size=cfg.batch)
    model = Lit(hydra.utils.instantiate(cfg.net))
    L.Trainer().fit(model, loader)
main()
`;
    assert.deepEqual(figures(text), known);
  });

  it("are composed anew for the command line", () => {
    const text = `# vram: args=model=large data.batch=16\n${imports}${training}${ways["Hydra"]}\n`;
    assert.deepEqual(figures(text), { parameters: 6480, batch: 16, complete: true });
  });

  const replacing = [
    "vars(args).update(settings)",
    "args.__dict__.update(settings)",
    "for key, value in settings.items():\n    setattr(args, key, value)",
    "parser.set_defaults(**settings)\nargs = parser.parse_args()",
    "args = argparse.Namespace(**settings)",
  ];
  for (const way of replacing) {
    it(`replace arguments and their defaults: ${way.split("\n")[0]}`, () => {
      const code = `${parser}settings = yaml.safe_load(open("flat.yaml"))\n${way}\n`;
      assert.deepEqual(figures(`${imports}${training}${code}train(args.width, args.batch_size)\n`), known);
    });
  }

  it("are named among what the estimate rests on", () => {
    const text = `${imports}${training}${ways["PyYAML and an argument's default"]}\n`;
    const [model] = analyze(parseModule(text), {
      select: [],
      readBeside: (name) => files[name],
    }).estimates.all();
    const named = model?.assumptions.filter(({ key }) => key === "configuration").map(({ value }) => value);
    assert.deepEqual(named, ["config.yaml"]);
  });

  const unknown: readonly (readonly [what: string, code: string, reason: RegExp])[] = [
    [
      "a file that is not there",
      `cfg = yaml.safe_load(open("other.yaml"))`,
      /configuration file `other\.yaml` is not found/,
    ],
    ["a key that is not there", `cfg = yaml.safe_load(open("config.yaml"))`, /KeyError|width/],
    [
      "a reference that nobody resolves",
      `from omegaconf import OmegaConf\ncfg = OmegaConf.create({"width": "\${now:%H}"})\ncfg = OmegaConf.create("width: \${now:x}")`,
      /`\$\{now:x\}`/,
    ],
  ];
  for (const [what, code, reason] of unknown) {
    it(`leave ${what} unknown, with the reason`, () => {
      const text = `${imports}${code}\nmodel = nn.Linear(cfg["width"], 4)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n`;
      const [model] = analyze(parseModule(text), {
        select: [],
        readBeside: (name) => files[name],
      }).estimates.all();
      assert.equal(model?.complete, false);
      assert.match(model.unknown.map((part) => render(part.reason, "en")).join("; "), reason);
    });
  }

  it("leave arguments unknown that something unknown replaces", () => {
    const code = `${parser}vars(args).update(yaml.safe_load(open("other.yaml")))\n`;
    const found = figures(`${imports}${training}${code}train(args.width, args.batch_size)\n`);
    assert.notEqual(found.complete, true);
    assert.equal(found.batch, undefined);
  });
});
