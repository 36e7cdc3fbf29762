/** What the iteration before and the rows of tensors hold in a steady step; figures measured with PyTorch 2.13 (`measure.py`). */
import assert from "node:assert/strict";
import { parseModule } from "../../../server/src/python/parse";
import { type ConfigurationGolden, runGolden, statesOf } from "../../support/accuracy";
import { loadParser } from "../../support/parser";

interface Case {
  readonly source: string;
  readonly batch: number;
  readonly input: readonly string[];
  readonly target: readonly string[];
  readonly loss: string;
}

function configuration({ input, target, loss }: Case): ConfigurationGolden {
  return {
    model: "",
    input,
    target,
    loss,
    params: 0,
    trainable: 0,
    param_bytes: 0,
    buffer_bytes: 0,
    runs: [],
  };
}

/** The step on the CPU in single precision. */
function simulated(step: Case): Exclude<ReturnType<typeof runGolden>, string> {
  const run = {
    device: "cpu",
    precision: "fp32",
    batch: step.batch,
    saved: 0,
    saved_inputs: 0,
    output: "",
  } as const;
  const found = runGolden(parseModule(step.source), configuration(step), run);
  if (typeof found === "string") assert.fail(found);
  return found;
}

const header = "import torch\nfrom torch import nn\n";

describe("a steady step", () => {
  before(loadParser);

  it("has the graph of an output that the loss does not use, until the next output replaces it", () => {
    const { measure } = simulated({
      source: `${header}
class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(80, 80)
        self.g = nn.Linear(80, 1)

    def forward(self, x):
        frames = x.transpose(0, 1)
        outs, gates = [], []
        while len(outs) < frames.size(0) - 1:
            m = self.a(frames[len(outs)])
            outs += [m.squeeze(1)]
            gates += [self.g(m).squeeze()]
        outs += [m]
        return torch.stack(outs).transpose(0, 1).contiguous(), torch.stack(gates).transpose(0, 1)
`,
      batch: 4,
      input: ["float32[B,20,80]"],
      target: ["float32[B,20,80]"],
      loss: "mse",
    });
    assert.equal(measure.forward.live, 229_092);
    assert.equal(measure.backward?.live, 255_992);
    assert.equal(measure.liveAfterBackward, 179_188);
  });

  it("holds the rows of a tensor as long as something goes over them", () => {
    const { measure } = simulated({
      source: `${header}
class Euler(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(2, 2)
        self.register_buffer("t", torch.linspace(0.0, 1.0, 6))

    def forward(self, y):
        for t0, t1 in zip(self.t[:-1], self.t[1:]):
            y = y + (t1 - t0) * self.l(y)
        return y
`,
      batch: 8,
      input: ["float32[B,2]"],
      target: ["float32[B,2]"],
      loss: "l1",
    });
    assert.equal(measure.forward.live, 652);
    assert.equal(measure.backward?.live, 780);
    assert.equal(measure.liveAfterBackward, 268);
  });

  it("keeps a contiguous copy of targets that cross_entropy takes with more than two dimensions", () => {
    const { measure } = simulated({
      source: `${header}import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 8, 1)

    def forward(self, x):
        return self.conv(x)

def shifted(logits, y):
    return F.cross_entropy(logits[:, :, :-1], y[:, 1:])
`,
      batch: 2,
      input: ["float32[B,1,16]"],
      target: ["int64[B,16]<8"],
      loss: "shifted",
    });
    assert.equal(measure.saved, 1204);
    assert.equal(measure.forward.live, 2684);
    assert.equal(measure.backward?.live, 4360);
  });

  it("makes data of a sequence and sizes of numbers in `torch.FloatTensor` and its kin", () => {
    const { built } = simulated({
      source: `${header}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.FloatTensor([float("-inf")]))
        self.b = nn.Parameter(torch.Tensor([0.5, 2]))
        self.c = nn.Parameter(torch.Tensor(3, 4))
        self.d = nn.Parameter(torch.Tensor(torch.Size([5, 6])))
        self.e = nn.Parameter(torch.DoubleTensor([[1, 2], [3, 4]]))
        self.register_buffer("i", torch.LongTensor([3, 4, 5]))
        self.register_buffer("j", torch.IntTensor(2, 2))

    def forward(self, x):
        return x * self.a + self.b.sum()
`,
      batch: 2,
      input: ["float32[B,2]"],
      target: [],
      loss: "sum",
    });
    const { params, paramBytes, bufferBytes } = statesOf(built);
    assert.equal(params, 1 + 2 + 12 + 30 + 4);
    assert.equal(paramBytes, 4 * (1 + 2 + 12 + 30) + 8 * 4);
    assert.equal(bufferBytes, 8 * 3 + 4 * 4);
  });

  it("knows numpy's sums of a vector and its size", () => {
    const { built } = simulated({
      source: `import numpy as np\n${header}
class Fields(nn.Module):
    def __init__(self, dims=(3, 4, 5)):
        super().__init__()
        self.offsets = np.array((0, *np.cumsum(dims)[:-1]), dtype=np.int64)
        self.tables = nn.ModuleList(nn.Embedding(int(n) + 1, self.offsets.size) for n in self.offsets)

    def forward(self, x):
        x = x + x.new_tensor(self.offsets).unsqueeze(0)
        return sum(table(x) for table in self.tables)
`,
      batch: 2,
      input: ["int64[B,3]<3"],
      target: [],
      loss: "sum",
    });
    assert.equal(statesOf(built).params, 3 * (1 + 4 + 8));
  });
});
