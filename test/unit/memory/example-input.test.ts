/** What a header could say of an input that the script leaves open: an example that the model's own forward accepts. */
import assert from "node:assert/strict";
import { analyze } from "../../../server/src/analysis";
import { render } from "../../../server/src/messages/message";
import { parseModule } from "../../../server/src/python/parse";
import { loadParser } from "../../support/parser";

/** A script that trains `Net` on what `unknown_data` gives. */
function scriptOf(init: string, forward: string, signature = "self, x"): string {
  return `import torch
from torch import nn
import torch.nn.functional as F
from elsewhere import unknown_data

class Net(nn.Module):
    def __init__(self):
        super().__init__()
${init.replaceAll(/^/gm, "        ")}

    def forward(${signature}):
${forward.replaceAll(/^/gm, "        ")}

model = Net().cuda()
optimizer = torch.optim.Adam(model.parameters())
for x, y in unknown_data():
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
`;
}

function exampleOf(text: string): readonly string[] | undefined {
  const first = analyze(parseModule(text)).estimates.first();
  return first?.unknown.find(({ header }) => header !== undefined)?.header;
}

describe("an example of the input that only a header can say", () => {
  before(loadParser);

  const conv = "self.conv = nn.Conv2d(3, 8, 3, padding=1)";
  const cases: readonly (readonly [title: string, init: string, forward: string, wanted: string])[] = [
    [
      "images of any size",
      `${conv}\nself.head = nn.Linear(8, 10)`,
      "return self.head(self.conv(x).mean((2, 3)))",
      "input=float32[B,3,224,224]",
    ],
    [
      "images of the one size that the head fits",
      `${conv}\nself.head = nn.Linear(8 * 16 * 16, 10)`,
      "return self.head(F.max_pool2d(self.conv(x), 2).flatten(1))",
      "input=float32[B,3,32,32]",
    ],
    ["rows of numbers", "self.fc = nn.Linear(20, 2)", "return self.fc(x)", "input=float32[B,20]"],
    [
      "images that are flattened",
      "self.fc = nn.Linear(784, 10)",
      "b, c, h, w = x.shape\nreturn self.fc(x.view(b, -1))",
      "input=float32[B,1,28,28]",
    ],
    [
      "words",
      "self.words = nn.Embedding(1000, 16)\nself.lstm = nn.LSTM(16, 8, batch_first=True)",
      "return self.lstm(self.words(x))[0][:, -1]",
      "input=int64[B,128]<1000",
    ],
    [
      "sound",
      "self.conv = nn.Conv1d(1, 4, 80, stride=16)",
      "return self.conv(x).mean(2)",
      "input=float32[B,1,16000]",
    ],
  ];
  for (const [title, init, forward, wanted] of cases) {
    it(`is given for ${title}, and gives the step`, () => {
      const text = scriptOf(init, forward);
      assert.deepEqual(exampleOf(text), [wanted]);
      const told = analyze(parseModule(`# vram: ${wanted}\n${text}`)).estimates.first();
      assert.ok(told?.peak, "the header is all that was missing");
    });
  }

  it("stands in the reason, beside why the script says nothing", () => {
    const first = analyze(
      parseModule(scriptOf("self.fc = nn.Linear(20, 2)", "return self.fc(x)")),
    ).estimates.first();
    const reason = first?.unknown.find(({ header }) => header !== undefined)?.reason;
    assert.ok(reason);
    assert.match(render(reason, "en"), /^activations: input unknown.*: `# vram: input=float32\[B,20\]`$/);
    assert.match(render(reason, "zh-cn"), /^激活：输入未知.*`# vram: input=float32\[B,20\]`$/);
  });

  it("is none where no usual input fits, or the forward takes several", () => {
    const fixed = `${conv}\nself.head = nn.Linear(7, 10)`;
    assert.equal(exampleOf(scriptOf(fixed, "return self.head(self.conv(x).flatten(1))")), undefined);
    assert.equal(exampleOf(scriptOf(conv, "return self.conv(x) + y", "self, x, y")), undefined);
  });

  it("changes no figure of the model that it was tried with", () => {
    const init = "self.norm = nn.BatchNorm1d(20)\nself.fc = nn.Linear(20, 2)";
    const [open, fixed] = ["x", "x, y"].map((parameters) =>
      analyze(
        parseModule(scriptOf(init, "return self.fc(self.norm(x))", `self, ${parameters}`)),
      ).estimates.first(),
    );
    assert.deepEqual(open?.parameters, fixed?.parameters);
    assert.deepEqual(open?.buffers, fixed?.buffers);
    assert.deepEqual(open?.layers, fixed?.layers);
  });
});
