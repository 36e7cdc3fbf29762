import assert from "node:assert/strict";
import { analyze } from "../../../server/src/analysis";
import type { Analysis } from "../../../server/src/analysis";
import { deviceUsage } from "../../../server/src/memory/device-usage";
import { render } from "../../../server/src/messages/message";
import type { Language } from "../../../server/src/messages/message";
import { parseModule } from "../../../server/src/python/parse";
import { loadParser } from "../../support/parser";

const header = "# vram: batch=4, input=float32[B,1000], model=Net(1000)";

/** Trains `Net` and evaluates with gradients on; `evaluated` is what the evaluation calls. */
function script(first: string, { evaluated = "model", more = "" } = {}): string {
  return `${first}
import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.hidden = nn.Linear(1000, width)
        self.drop = nn.Dropout(0.5)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        x = torch.relu(self.hidden(x))
        return self.head(self.drop(x))


class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(1000, 10)

    def forward(self, x):
        return self.head(x)


def evaluate(loader):
    model = Net(1000).cuda()
    other = Other().cuda()
${more}    ${evaluated}.eval()
    total = 0
    for x, y in loader:
        out = ${evaluated}(x)
        total += F.cross_entropy(out, y)
    print(total)
`;
}

function analysed(text: string): Analysis {
  return analyze(parseModule(text));
}

function messageOf(text: string, rule: string, language: Language = "en"): string {
  const found = analysed(text).findings.find((finding) => finding.rule === rule);
  assert.ok(found, `${rule} is found`);
  return render(found.message, language);
}

describe("the graph of one batch", () => {
  before(loadParser);

  it("has what training keeps and evaluation does not", () => {
    const { estimates } = analysed(script(header));
    // Training: the output of ReLU, dropout's mask (1 byte each) and its output. Evaluation: the output of ReLU, which
    // is the head's input. The model's input is there anyway.
    assert.equal(estimates.batchGraph?.(true)?.bytes, 4 * 1000 * (4 + 1 + 4));
    assert.equal(estimates.batchGraph(false)?.bytes, 4 * 1000 * 4);
    assert.equal(estimates.batchGraph(false)?.batch, 4);
    assert.equal(estimates.batchGraph(false)?.complete, true);
    assert.equal(
      estimates.all()[0]?.saved?.bytes,
      4 * 1000 * (4 + 1 + 4),
      "the estimate itself stays in training",
    );
  });

  it("says how many fit beside the model states at most", () => {
    const states = (1000 * 1000 + 1000 + 1000 * 10 + 10) * 4;
    const graph = analysed(script(`${header}, device=8MiB`)).estimates.batchGraph?.(false);
    assert.equal(graph?.fitting, Math.floor((8 * 1024 ** 2 - states) / 16_000));
    assert.equal(graph.isDevice, true);
  });

  it("stands where the estimate of the trained model does, whichever of them is asked for first", () => {
    const before = analysed(script(header)).estimates;
    const graph = before.batchGraph?.(false);
    const [estimate] = before.all();
    assert.ok(graph !== undefined && estimate !== undefined);
    assert.deepEqual(graph.model, { span: estimate.span, classSpan: estimate.classSpan });
    const after = analysed(script(header)).estimates;
    assert.equal(after.first()?.name, after.all()[0]?.name);
    assert.deepEqual(after.batchGraph?.(false), graph);
  });

  it("is not known without micro-batch, input or model", () => {
    for (const first of [
      "# vram: batch=4, model=Net(1000)",
      "# vram: input=float32[B,1000], model=Net(1000)",
    ]) {
      assert.equal(analysed(script(first)).estimates.batchGraph?.(false), undefined, first);
    }
  });

  it("stands in the messages, in both languages", () => {
    assert.match(messageOf(script(header), "eval-without-no-grad"), /\(≈ 15\.6 KiB at batch 4\)/);
    assert.match(messageOf(script(header), "loss-graph-retained"), /\(≥ 15\.6 KiB each at batch 4\)/);
    assert.match(messageOf(script(header), "eval-without-no-grad", "zh-cn"), /批大小为 4 时约 15\.6 KiB/);
    const limited = script(`${header}, budget=8MiB`);
    assert.match(
      messageOf(limited, "loss-graph-retained"),
      /the budget of 8\.0 MiB is used up after at most 271 /,
    );
    assert.match(
      messageOf(limited, "loss-graph-retained", "zh-cn"),
      /最多 271 次迭代后，8\.0 MiB 的显存预算就会用尽/,
    );
  });

  it("is that of the loader which the evaluation goes over, where the script says its batch", () => {
    const own = script(header, { more: "    loader = torch.utils.data.DataLoader(data, batch_size=16)\n" });
    assert.match(messageOf(own, "eval-without-no-grad"), /\(≈ 62\.5 KiB at batch 16\)/);
    assert.equal(analysed(own).estimates.batchGraph?.(false)?.batch, 4);
  });

  it("is not claimed of another model, nor of a class that the file makes in two ways", () => {
    const other = script(header, { evaluated: "other" });
    assert.doesNotMatch(messageOf(other, "eval-without-no-grad"), /KiB/);
    const twice = script(header, { more: "    teacher = Net(10).cuda()\n" });
    assert.doesNotMatch(messageOf(twice, "eval-without-no-grad"), /KiB/);
    assert.doesNotMatch(messageOf(script("# nothing"), "eval-without-no-grad"), /KiB/);
  });

  it("is not claimed where several views make up the batch", () => {
    for (const joined of ["model(torch.cat([x, x.flip(-1)]))", "model(both)"]) {
      const text = script(header)
        .replace("model(x)", joined)
        .replace("        out =", "        both = torch.cat([x, x.flip(-1)])\n        out =");
      assert.doesNotMatch(messageOf(text, "eval-without-no-grad"), /KiB/);
    }
  });

  it("is not claimed where the forward is not followed to its end", () => {
    const partly = script(header).replace("self.head(self.drop(x))", "unknown(self.head(self.drop(x)))");
    assert.doesNotMatch(messageOf(partly, "eval-without-no-grad"), /KiB/);
  });
});

describe("calls of a forward", () => {
  before(loadParser);

  it("are counted, with their outputs and what they made the graph keep", () => {
    const text = script(header);
    const [model] = analysed(text).estimates.all();
    const callOf = (written: string) =>
      model?.calls?.find(({ span }) => text.slice(span.start, span.end) === written);
    assert.deepEqual(callOf("self.hidden(x)")?.outputs, [{ shape: [4, 1000], dtype: "float32" }]);
    assert.equal(callOf("self.hidden(x)")?.saved, 0);
    assert.equal(callOf("torch.relu(self.hidden(x))")?.saved, 16_000);
    // What dropout keeps is dropout's: its mask.
    assert.equal(callOf("self.head(self.drop(x))")?.saved, 16_000);
    const drop = model?.layers?.find(({ modulePath }) => modulePath === "drop");
    assert.equal(drop?.ran?.count, 1);
    assert.equal(drop.ran.saved, 4_000);
  });
});

describe("what the device shows", () => {
  it("lies over the allocated peaks that were measured on a T4, within the interval", () => {
    // Allocated, and reserved with the context, of the smallest and the largest of the published runs.
    for (const [allocated, total] of [
      [2_705_153_536, 3_184_394_240],
      [5_736_883_712, 6_233_653_248],
      [1_354_818_048, 1_642_987_520],
      [1_757_328_384, 2_095_972_352],
    ] as const) {
      const { least, most } = deviceUsage(allocated);
      assert.ok(least <= total && total <= most, `${least} ${total} ${most}`);
    }
  });
});
