/** `args` in the header: the script runs with that command line, whoever asks. */
import assert from "node:assert/strict";
import { analyze } from "../../../server/src/analysis";
import type { Analysis } from "../../../server/src/analysis";
import { render } from "../../../server/src/messages/message";
import { parseModule } from "../../../server/src/python/parse";
import { loadParser } from "../../support/parser";

const imports = `import argparse
import sys
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
`;

const training = `
model = nn.Linear(4, args.width)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = TensorDataset(torch.zeros(512, 4), torch.zeros(512, args.width))
loader = DataLoader(data, batch_size=args.batch_size)
for x, y in loader:
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
`;

const parser = `parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, required=True)
parser.add_argument("-b", "--batch-size", type=int, default=16)
args = parser.parse_args()
`;

function analysed(text: string, setup = {}): Analysis {
  return analyze(parseModule(text), { select: ["budget-invalid"], setup });
}

/** Parameters and micro-batch. */
function figures({ estimates, setup }: Analysis): readonly (number | boolean | undefined)[] {
  const model = estimates.first();
  return [model?.parameters.count, setup.batch?.value, model?.complete];
}

describe("the command line in the header", () => {
  before(loadParser);

  it("gives arguments what the defaults lack", () => {
    const open = analysed(imports + parser + training).estimates.first();
    assert.equal(open?.complete, false);
    assert.deepEqual(open.unknown.find(({ header }) => header !== undefined)?.header, ["args=--width 10"]);

    const given = analysed(`# vram: args=--width 8\n${imports}${parser}${training}`);
    assert.deepEqual(figures(given), [40, 16, true]);
    assert.deepEqual(
      given.estimates.first()?.assumptions.find(({ key }) => key === "args"),
      { key: "args", value: "--width 8", from: "header", span: { start: 13, end: 22 } },
    );
  });

  it("stands in the place of defaults, in the step as in what is read from the script", () => {
    const text = `# vram: batch=4, args=--width 8\n# vram: args=-b 32\n${imports}${parser}${training}`;
    assert.deepEqual(figures(analysed(text.replace("batch=4, ", ""))), [40, 32, true]);
    assert.equal(analysed(text).setup.batch?.value, 4, "what the header says itself counts first");
  });

  it("is replaced by that of the options", () => {
    const args = { value: ["--width", "2"], from: "option" };
    assert.deepEqual(figures(analysed(`# vram: args=--width 8\n${imports}${parser}${training}`, { args })), [
      10,
      16,
      true,
    ]);
  });

  it("is what sys.argv holds", () => {
    const own = `class args:\n    width = int(sys.argv[1])\n    batch_size = 8\n`;
    assert.deepEqual(figures(analysed(`# vram: args=16\n${imports}${own}${training}`)), [80, 8, true]);
    const short = `class args:\n    width = int(sys.argv[1]) if len(sys.argv) > 1 else 4\n    batch_size = 8\n`;
    assert.deepEqual(figures(analysed(imports + short + training)), [20, 8, true]);
  });

  it("is not what a parser reads that is handed its words", () => {
    const handed = parser.replace("parse_args()", `parse_args(["--width", "3"])`);
    assert.equal(figures(analysed(`# vram: args=--width 8\n${imports}${handed}${training}`))[0], 15);
  });

  it("reaches switches, lists and words that the script converts itself", () => {
    const further = `parser = argparse.ArgumentParser()
parser.add_argument("sizes", type=int, nargs="+")
parser.add_argument("--wide", action="store_true")
parser.add_argument("--bias", action=argparse.BooleanOptionalAction, default=True)
parser.add_argument("--flag", type=lambda text: text.lower() == "yes", default=False)
args = parser.parse_args()
args.width = args.sizes[1] * (10 if args.wide else 1) * (100 if args.flag else 1)
args.batch_size = args.sizes[0]
`;
    const model = training.replace("args.width)\noptimizer", "args.width, bias=args.bias)\noptimizer");
    const line = "args=2 3 --wide --no-bias --flag Yes";
    assert.deepEqual(figures(analysed(`# vram: ${line}\n${imports}${further}${model}`)).slice(0, 1), [12000]);
  });

  it("is held against what the script declares", () => {
    const declared = `parser.add_argument("--arch", choices=["small", "large"])\nargs = parser`;
    const own = parser.replace("args = parser", declared);
    const messages = (args: string): string[] =>
      analysed(`# vram: args=${args}\n${imports}${own}${training}`).findings.map(({ message }) =>
        render(message, "en"),
      );
    assert.deepEqual(messages("--width 3 --arch large --other 4"), []);
    assert.deepEqual(messages("--widht 3"), [
      "The script has no option `--widht`; `--width` is probably meant.",
    ]);
    assert.deepEqual(messages("--width much"), ["The script reads a number from `--width`, not `much`."]);
    assert.deepEqual(messages("--width"), ["The script's option `--width` takes a value."]);
    assert.deepEqual(messages("--arch huge"), [
      "`huge` is no value of the script's option `--arch`. Values: small, large.",
    ]);
  });

  it("may hold what elsewhere is a key", () => {
    const { setup, findings } = analysed(`# vram: batch=4 args=model=wide batch=8, loss=sum\n${imports}`);
    assert.deepEqual(setup.args?.value, ["model=wide", "batch=8"]);
    assert.equal(setup.loss?.value, "sum");
    assert.equal(findings.length, 1, "the comma before args is missing");
  });
});
