/** Levels of findings where they differ from the rule's own. */
import assert from "node:assert/strict";
import { analyze } from "../../../server/src/analysis";
import { render } from "../../../server/src/messages/message";
import { parseModule } from "../../../server/src/python/parse";
import { loadParser } from "../../support/parser";

function levelsOf(text: string, rule: string): string[] {
  return analyze(parseModule(text))
    .findings.filter((finding) => finding.rule === rule)
    .map(({ level }) => level);
}

describe("levels", () => {
  before(loadParser);

  it("count only the processes that are started before a checkpoint is loaded", () => {
    const text = `
import torch
from accelerate import Accelerator
from torch import nn

model = nn.Linear(8, 2).cuda()
model.load_state_dict(torch.load("first.pt"))
accelerator = Accelerator()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = accelerator.prepare(model, optimizer)
model.load_state_dict(torch.load("second.pt"))
`;
    assert.deepEqual(levelsOf(text, "load-without-map-location"), ["information", "warning"]);
  });

  it("take a process group of one for one process", () => {
    const text = (size: string): string => `
import torch
from torch import nn

torch.distributed.init_process_group("nccl", world_size=${size}, rank=0)
model = nn.Linear(8, 2).cuda()
model.load_state_dict(torch.load("first.pt"))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
`;
    assert.deepEqual(levelsOf(text("1"), "load-without-map-location"), ["information"]);
    const guarded = (test: string): string =>
      text("2").replace(
        /^model\.load.*$/m,
        (load) => `is_first = args.local_rank == 0\nif ${test}:\n    ${load}`,
      );
    assert.deepEqual(levelsOf(guarded("args.local_rank == 0"), "load-without-map-location"), ["information"]);
    assert.deepEqual(levelsOf(guarded("args.resume and is_first"), "load-without-map-location"), [
      "information",
    ]);
    assert.deepEqual(levelsOf(guarded("args.resume"), "load-without-map-location"), ["warning"]);
    assert.deepEqual(levelsOf(text("2"), "load-without-map-location"), ["warning"]);
  });

  it("tell batches from rounds that only count, and take a loop over a few written items for none", () => {
    const said = (loop: string): string => {
      const [finding] = analyze(
        parseModule(`
import torch
from torch import nn
from data import images, loader

model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2)).cuda()
model.eval()
${loop}
    print(model(x).argmax(1))
`),
      ).findings.filter(({ rule }) => rule === "eval-without-no-grad");
      return `${finding?.level}: ${/(each \w+|it) keeps/.exec(finding === undefined ? "" : render(finding.message, "en"))?.[1]}`;
    };
    assert.equal(said("for x in loader:"), "error: each batch");
    assert.equal(said("for i in range(len(images)):\n    x = images[i]"), "error: each iteration");
    assert.equal(said('for i, name in enumerate(["first", "second"]):\n    x = images[name]'), "warning: it");
    assert.equal(said("for x, y in zip(loader, loader):"), "error: each batch");
    assert.equal(said("for name in names:\n    x = images[name]"), "error: each iteration");
    assert.equal(said('while True:\n    x = encode(input("> "))'), "warning: it");
  });

  it("tell an evaluation in a helper that gives numbers by the loops in the helper and around its call", () => {
    const text = (body: string, use: string): string => `
import torch
from torch import nn
from data import images

model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2)).cuda()
model.eval()

def score(given):
${body}

${use}
`;
    const once = "    return model(given.cuda()).argmax().item()";
    const overAll =
      "    best = 0\n    for image in given:\n        best = max(best, model(image.cuda()).max().item())\n    return best";
    const single = "result = score(images)";
    const repeated = "results = []\nfor image in images:\n    results.append(score(image))";
    const rule = "eval-without-no-grad";
    assert.deepEqual(levelsOf(text(once, single), rule), ["warning"]);
    assert.deepEqual(levelsOf(text(once, repeated), rule), ["error"]);
    assert.deepEqual(levelsOf(text(overAll, single), rule), ["error"]);
    assert.deepEqual(levelsOf(text(once, `${single}\n${repeated}`), rule), ["error"]);
  });

  it("tell an evaluation whose input stays the same in all rounds of its loops a level lower", () => {
    const text = (loop: string, given: string): string => `
import torch
from torch import nn
from data import batches, unseen

model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

${loop}
    model.train()
    optimizer.zero_grad()
    model(batches[0]).sum().backward()
    optimizer.step()
    model.eval()
    print(model(${given}).sum().item())
`;
    const levels = (loop: string, given: string): string[] =>
      levelsOf(text(loop, given), "eval-without-no-grad");
    assert.deepEqual(levels("for epoch in range(200):", "unseen.to(device)"), ["warning"]);
    assert.deepEqual(levels("for epoch in range(200):", "unseen[epoch]"), ["error"]);
    assert.deepEqual(levels("for epoch in range(200):", "next(unseen)"), ["error"]);
    assert.deepEqual(levels("for epoch in range(5):", "unseen[epoch]"), ["warning"]);
  });

  it("tell an evaluation on the CPU, or of a handful of texts, a level lower", () => {
    const converter = (place: string): string => `
import torch
from torch import nn

model = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 2))${place}
model.load_state_dict(torch.load("weights.pt", map_location="cpu"))

def verify(loader):
    model.eval()
    for x in loader:
        print(model(x).sum().item())
`;
    const checker = (texts: string): string => `
import torch
from transformers import AutoModel, AutoTokenizer

def verify(tokenizer, read):
    model = AutoModel.from_pretrained("bert-base-uncased").cuda().eval()
    texts = ${texts}
    batch = {key: value.cuda() for key, value in tokenizer(texts, return_tensors="pt").items()}
    rows = [row.unsqueeze(0) for row in batch["input_ids"].cpu()]
    for row in rows:
        print(model(row.cuda()).last_hidden_state.sum().item())
`;
    const rule = "eval-without-no-grad";
    assert.deepEqual(levelsOf(converter(""), rule), ["warning"]);
    assert.deepEqual(levelsOf(converter(".to('cpu')"), rule), ["warning"]);
    assert.deepEqual(levelsOf(converter(".cuda()"), rule), ["error"]);
    assert.deepEqual(levelsOf(checker('["query: how much protein"]'), rule), ["warning"]);
    assert.deepEqual(levelsOf(checker("read()"), rule), ["error"]);
  });

  it("tell an evaluation by what reaches the forward: a helper's step, a loop that breaks off, an input on the CPU", () => {
    const rule = "eval-without-no-grad";
    const plotting = (given: string, before: string): string => `
import torch
from torch import nn

class Runner:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(512, 4096), nn.ReLU(), nn.Linear(4096, 512)).cuda()

    def plot(self, epoch, images):
        ${before}
        output = self.model(torch.stack(images).cuda())
        print(epoch, output.argmax().item())

    def train(self, images, epochs):
        for epoch in range(epochs):
            self.model.eval()
            self.plot(epoch, ${given})
`;
    assert.deepEqual(levelsOf(plotting("images", "pass"), rule), ["warning"]);
    assert.deepEqual(levelsOf(plotting("images[epoch]", "pass"), rule), ["error"]);
    assert.deepEqual(levelsOf(plotting("images", "images = images[epoch:]"), rule), ["error"]);

    const few = (test: string): string => `
import torch
from torch import nn

def look(test_set):
    model = nn.Sequential(nn.Linear(512, 4096), nn.ReLU(), nn.Linear(4096, 512)).cuda().eval()
    for i, x in enumerate(test_set):
        if ${test}:
            break
        print(model(x.cuda()).argmax().item())
`;
    assert.deepEqual(levelsOf(few("i >= 1"), rule), ["warning"]);
    assert.deepEqual(levelsOf(few("i >= 300"), rule), ["error"]);
    assert.deepEqual(levelsOf(few("x is None"), rule), ["error"]);

    const listening = (place: string): string => `
import torch
from torch import nn
from models import make

device = "cuda" if torch.cuda.is_available() else "cpu"

def listen(read):
    model: nn.Module = make(device)
    model.eval()
    while True:
        sound = torch.tensor(read())${place}
        sound = (sound - 0.5).reshape(1, 1, -1)
        print(model(sound).argmax().item())
`;
    assert.deepEqual(levelsOf(listening(""), rule), ["warning"]);
    assert.deepEqual(levelsOf(listening(".to(device)"), rule), ["error"]);
  });

  it("tell an evaluation of what a helper cuts from one and the same tensor a level lower", () => {
    const text = (returned: string): string => `
import torch
from torch import nn

def columns(of):
    parts = []
    for i in range(of.shape[-1]):
        parts.append(${returned})
    return parts

def train(net: nn.Module, everything, optimizer):
    for i in range(200):
        net.train()
        loss = net(*columns(everything[:100])).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        net.eval()
        print(net(*columns(everything)).pow(2).mean().item())
`;
    const rule = "eval-without-no-grad";
    assert.deepEqual(levelsOf(text("of[:, i:i + 1]"), rule), ["warning"]);
    assert.deepEqual(levelsOf(text("torch.randn_like(of[:, i:i + 1])"), rule), ["error"]);
  });

  it("take a step that is measured on made-up data without a reset for a warning", () => {
    const text = (given: string): string => `
import torch
from torch import nn

def measure(batch):
    layer = nn.Linear(512, 512).cuda()
    optimizer = torch.optim.Adam(layer.parameters())
    x = ${given}
    for _ in range(1000):
        loss = layer(x).pow(2).mean()
        loss.backward()
        optimizer.step()
`;
    assert.deepEqual(levelsOf(text("torch.ones(4, 512).cuda()"), "missing-zero-grad"), ["warning"]);
    assert.deepEqual(levelsOf(text("batch.cuda()"), "missing-zero-grad"), ["error"]);
  });

  it("leave a checkpoint that is loaded behind the training, for a last test by the same function, a level lower", () => {
    const text = `
import torch
from torch import nn

def iterate(loader, model, optimizer=None, mode="test"):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
        if mode == "train":
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

def main(train_loader, test_loader):
    model = nn.Linear(128, 10).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    resumed = torch.load("last.pth")
    model.load_state_dict(resumed["model"])
    for epoch in range(resumed["epoch"], 10):
        iterate(train_loader, model, optimizer, mode="train")
    best = torch.load("best.pth")
    model.load_state_dict(best["model"])
    iterate(test_loader, model, mode="test")
`;
    assert.deepEqual(levelsOf(text, "load-without-map-location"), ["warning", "information"]);
  });

  it("take an evaluation of a model that is frozen up to its head for a warning", () => {
    const text = (before: string): string => `
import torch
from torchvision.models import resnet18

model = resnet18(num_classes=10).cuda()
${before}
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)

def test(test_loader):
    model.eval()
    right = 0
    for x, y in test_loader:
        right += (model(x.cuda()).argmax(1) == y.cuda()).sum().item()
    return right
`;
    const byLoop = `for name, param in model.named_parameters():
    if not name.startswith("fc"):
        param.requires_grad = False`;
    assert.deepEqual(levelsOf(text(byLoop), "eval-without-no-grad"), ["warning"]);
    assert.deepEqual(levelsOf(text("model.layer1.requires_grad_(False)"), "eval-without-no-grad"), [
      "warning",
    ]);
    const counted = "print(sum(p.numel() for p in model.parameters() if p.requires_grad))";
    assert.deepEqual(levelsOf(text(counted), "eval-without-no-grad"), ["error"]);
  });

  it("take an evaluation of a model whose class freezes a part of it for a warning", () => {
    const text = (freezing: string): string => `
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)
        ${freezing}
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.body(x))

def test(test_loader):
    model = Net().cuda()
    model.eval()
    for x in test_loader:
        print(model(x.cuda()).argmax(1))
`;
    assert.deepEqual(levelsOf(text("self.body.requires_grad_(False)"), "eval-without-no-grad"), ["warning"]);
    assert.deepEqual(levelsOf(text("self.body.requires_grad_(True)"), "eval-without-no-grad"), ["error"]);
  });

  it("say of a loss that is kept that it piles up itself, of a sum that only its nodes do", () => {
    const said = (keeping: string): string => {
      const [finding] = analyze(
        parseModule(`
import torch
from torch import nn

def train(loader):
    model = nn.Linear(8, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    total = 0
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
        ${keeping}
    return total, losses
`),
      ).findings.filter(({ rule }) => rule === "graph-retained-after-backward");
      return finding === undefined ? "" : render(finding.message, "en");
    };
    assert.match(
      said("losses.append(loss)"),
      /\(host memory, about 1 KiB an operation\) and the tensor itself pile up/,
    );
    assert.match(
      said("total += loss"),
      /\(host memory, about 1 KiB an operation\) pile up as long as `total` holds them/,
    );
    assert.match(said("total = total + loss"), /an operation\) pile up/);
  });

  it("take a copy of the weights that each round goes back to for a hint", () => {
    const text = (back: string): string => `
import copy
import torch
from torch import nn

model = nn.Linear(8, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in tasks:
    before = copy.deepcopy(model.state_dict())
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x.cuda()), y.cuda()).backward()
    optimizer.step()
    ${back}
torch.save(before, "before.pt")
`;
    const rule = "deepcopy-model-in-loop";
    assert.deepEqual(levelsOf(text("model.load_state_dict(before)"), rule), ["information"]);
    assert.deepEqual(levelsOf(text("print(x.shape)"), rule), ["warning"]);
  });
});
