/** Bytes of weights, gradients and graphs in the messages of rules that speak of the trained model. */
import assert from "node:assert/strict";
import { analyze } from "../../../server/src/analysis";
import { render } from "../../../server/src/messages/message";
import type { Language } from "../../../server/src/messages/message";
import { parseModule } from "../../../server/src/python/parse";
import { loadParser } from "../../support/parser";

const header = "# vram: batch=16, input=float32[B,3,32,32]\n";

const netClass = `
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Conv2d(3, 64, 3, padding=1)
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)).mean((2, 3)))
`;
/** 1,792 and 650 parameters of 4 bytes. */
const weights = "9\\.5 KiB";
/** Kept: what ReLU gives, in 16 × 64 × 32 × 32 numbers, and the head's input of 16 × 64. */
const graph = "4\\.0 MiB";

function script({ definition = netClass, made = "Net()", teacher = "copy.deepcopy(model)" } = {}): string {
  return `${header}import copy
import torch
from torch import nn
${definition}

def train(loader):
    model = ${made}.cuda()
    teacher = ${teacher}
    teacher.eval()
    state = torch.load("start.pt")
    model.load_state_dict(state)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    criterion = nn.MSELoss()
    best = None
    history = []
    for epoch in range(10):
        for x, y in loader:
            x = x.cuda()
            optimizer.zero_grad()
            loss = criterion(model(x), teacher(x))
            loss.backward(retain_graph=True)
            optimizer.step()
        best = copy.deepcopy(model.state_dict())
        history.append(copy.deepcopy(model.state_dict()))
`;
}

/** The messages of a rule, in source order. */
function messagesOf(text: string, rule: string, language: Language = "en"): string[] {
  const { findings } = analyze(parseModule(text));
  return findings.filter((one) => one.rule === rule).map(({ message }) => render(message, language));
}

function messageOf(text: string, rule: string, language: Language = "en"): string {
  const [message] = messagesOf(text, rule, language);
  assert.ok(message, `${rule} is found`);
  return message;
}

describe("sizes of the trained model in messages", () => {
  before(loadParser);

  it("say what a copy of the weights takes", () => {
    const [best, history] = messagesOf(script(), "deepcopy-model-in-loop");
    assert.match(best ?? "", new RegExp(`two more sets of weights \\(each ≈ ${weights}\\)`));
    assert.match(history ?? "", new RegExp(`all weights of \`model\` \\(≈ ${weights}\\)`));
  });

  it("say what a checkpoint takes at least", () => {
    assert.match(
      messageOf(script(), "load-without-map-location"),
      new RegExp(`of its own \\(≥ ${weights}\\)`),
    );
    const onGpu = script().replace('"start.pt"', '"start.pt", map_location="cuda"');
    assert.match(messageOf(onGpu, "checkpoint-kept-alive"), new RegExp(`a second time \\(≥ ${weights}\\)`));
  });

  it("say what a retained graph and a teacher's graph take", () => {
    assert.match(messageOf(script(), "retain-graph-in-loop"), new RegExp(`\\(≥ ${graph} at batch 16\\)`));
    const teacher = messageOf(script(), "teacher-without-no-grad");
    assert.match(teacher, new RegExp(`its activations \\(≈ ${graph} at batch 16\\)`));
    assert.match(teacher, new RegExp(`each of its weights \\(≈ ${weights} in all\\)`));
  });

  it("stand in the Chinese messages too", () => {
    for (const [rule, size] of [
      ["deepcopy-model-in-loop", `每份约 ${weights}`],
      ["load-without-map-location", `至少 ${weights}`],
      ["retain-graph-in-loop", `批大小为 16 时至少 ${graph}`],
      ["teacher-without-no-grad", `共约 ${weights}`],
    ] as const)
      assert.match(messageOf(script(), rule, "zh-cn"), new RegExp(size), rule);
  });

  it("are known of a network that nobody trains and that is made without arguments", () => {
    const definition = `${netClass}

class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(10, 100)

    def forward(self, x):
        return self.layer(x)
`;
    const text = script({ definition, teacher: "Features().cuda()" }).replace(
      "criterion(model(x), teacher(x))",
      "criterion(teacher(model(x)), y)",
    );
    // 1,100 parameters of 4 bytes.
    assert.match(
      messageOf(text, "teacher-without-no-grad"),
      /each of its weights \(≈ 4\.3 KiB in all\) as well/,
    );
  });

  it("are known of a model that the script puts together without a class of its own", () => {
    const made = "nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU())";
    const [best] = messagesOf(script({ definition: "", made }), "deepcopy-model-in-loop");
    assert.match(best ?? "", /each ≈ 7\.0 KiB/);
    assert.match(
      messageOf(script({ definition: "", made }), "retain-graph-in-loop"),
      /≥ 4\.0 MiB at batch 16/,
    );
  });

  it("are not claimed of another model, nor where it stays open which one is meant", () => {
    const definition = `${netClass}

class Teacher(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(x.mean((2, 3)))
`;
    const other = script({ definition, teacher: "Teacher(3).cuda()" });
    assert.doesNotMatch(messageOf(other, "teacher-without-no-grad"), /iB/);
    const wider = netClass.replace("self):\n        super", "self, width=64):\n        super");
    const twice = script({ definition: wider, teacher: "Net(64).cuda()" });
    assert.doesNotMatch(messageOf(twice, "teacher-without-no-grad"), /iB/);
    const either = script({ definition: "", made: "(nn.Linear(3, 4) if big else nn.Linear(3, 2))" });
    for (const message of messagesOf(either, "deepcopy-model-in-loop")) assert.doesNotMatch(message, /iB/);
  });

  it("are those of the one that is meant where a loop trains several models", () => {
    const both = `
import torch
from torch import nn


def train(loader):
    depth = nn.Conv2d(3, 64, 3).cuda()
    pose = nn.Linear(3, 64).cuda()
    depth.load_state_dict(torch.load("depth.pt"))
    optimizer = torch.optim.SGD([*depth.parameters(), *pose.parameters()], lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        loss = depth(x.cuda()).sum() + pose(y.cuda()).sum()
        loss.backward()
        optimizer.step()


train([(torch.randn(4, 3, 32, 32), torch.randn(4, 3)) for _ in range(10)])
`;
    assert.match(messageOf(both, "load-without-map-location"), /≥ 7\.0 KiB/);
    const one = both
      .replace("[*depth.parameters(), *pose.parameters()]", "depth.parameters()")
      .replace("    pose = nn.Linear(3, 64).cuda()\n", "")
      .replace(" + pose(y.cuda()).sum()", "");
    assert.match(messageOf(one, "load-without-map-location"), /\(≥ 7\.0 KiB\)/);
  });

  it("are not those of a class's defaults where the script gives arguments that are not known", () => {
    const loading = (made: string): string => `
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, size=32):
        super().__init__()
        self.fc = nn.Linear(128 * size, 1024)

    def forward(self, x):
        return self.fc(x)


class Trainer:
    def __init__(self, args):
        self.net = ${made}.cuda()

    def load(self, path):
        self.net.load_state_dict(torch.load(path))
`;
    assert.doesNotMatch(messageOf(loading("Net(size=args.size)"), "load-without-map-location"), /iB/);
    assert.match(messageOf(loading("Net()"), "load-without-map-location"), /\(≥ 16\.0 MiB\)/);
  });

  it("are not what is left of a model whose parts are not known", () => {
    const definition = netClass.replace("nn.Conv2d(3, 64, 3, padding=1)", "backbones.create(nn, width=64)");
    const text = script({ definition: `import backbones\n${definition}` });
    assert.doesNotMatch(messageOf(text, "load-without-map-location"), /iB/);
    for (const message of messagesOf(text, "deepcopy-model-in-loop")) assert.doesNotMatch(message, /iB/);
  });

  it("tell what gradients with a graph keep", () => {
    const text = script({ teacher: "nn.Identity()" }).replace("retain_graph=True", "create_graph=True");
    assert.match(
      messageOf(text, "create-graph-in-backward"),
      new RegExp(`of the iteration \\(≥ ${graph} at batch 16\\) stay`),
    );
  });

  const passes = ({ batch = 64, training = "", testing = "" } = {}): string => `${header}import torch
from torch import nn
from torch.utils.data import DataLoader
from data import train_set, test_set
${netClass}
model = Net().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in DataLoader(train_set, batch_size=16):
    optimizer.zero_grad()
    ${training}loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
    loss.backward()
    optimizer.step()
model.eval()
losses = []
for x, y in DataLoader(test_set, batch_size=${batch}):
    ${testing}losses.append(nn.functional.cross_entropy(model(x.cuda()), y.cuda()))
print(sum(losses))
`;

  it("are those of the loader whose batches the forward gets", () => {
    assert.match(messageOf(passes(), "eval-without-no-grad"), /\(≈ 16\.0 MiB at batch 64\)/);
    assert.match(messageOf(passes(), "loss-graph-retained"), /\(≥ 16\.0 MiB each at batch 64\)/);
  });

  it("are not said of a forward in another precision than that of training", () => {
    const cast = 'with torch.autocast("cuda"): ';
    assert.doesNotMatch(messageOf(passes({ training: cast }), "eval-without-no-grad"), /iB/);
    assert.doesNotMatch(messageOf(passes({ testing: cast }), "eval-without-no-grad"), /iB/);
  });

  it("make an evaluation whose graph is known to be small a warning", () => {
    const levels = (batch: number): string[] =>
      analyze(parseModule(passes({ batch })))
        .findings.filter(({ rule }) => rule === "eval-without-no-grad")
        .map(({ level }) => level);
    assert.deepEqual(levels(64), ["error"]);
    assert.deepEqual(levels(32), ["warning"]);
  });
});
