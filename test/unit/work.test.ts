/**
 * How much work a check is, counted rather than timed: how often anything asks a node of the tree of what kind it is.
 * The same on every machine, so a rule that goes over the whole file for every loop shows here at once.
 */
import assert from "node:assert/strict";
import { analyze } from "../../server/src/analysis";
import { readHeader } from "../../server/src/directives/header";
import { estimateModule } from "../../server/src/memory/estimate";
import { parseModule } from "../../server/src/python/parse";
import { buildScopes } from "../../server/src/python/scope";
import { nodesOf } from "../../server/src/python/walk";
import { copies, faulty, script } from "../bench/programs";
import { countCalls } from "../support/calls";
import { modelText } from "../support/goldens";
import { loadParser } from "../support/parser";

/** Questions asked of the nodes of a program, per node. */
function questionsPerNode(text: string): number {
  const parsed = parseModule(text);
  const nodes = nodesOf(parsed.module);
  let questions = 0;
  for (const node of nodes) {
    const { kind } = node;
    Object.defineProperty(node, "kind", {
      get: () => {
        questions++;
        return kind;
      },
    });
  }
  analyze(parsed);
  return questions / nodes.length;
}

describe("the work of a check", () => {
  before(loadParser);

  it("is so much for a training script", () => {
    const questions = questionsPerNode(script.text(258));
    assert.ok(questions < 35, `${questions} questions a node`);
  });

  it("is little for a file of models, of whose values none has to be followed", () => {
    const model = `class Net(nn.Module):
    def __init__(self, depth):
        super().__init__()
        layers, self.sizes, count = [], {}, 0
        for index in range(depth):
            layers.append(nn.Linear(8, 8))
            self.sizes[index] = 8
            count += 1
        self.layers = nn.Sequential(*layers)
    def forward(self, x, steps):
        outputs = []
        for step in range(steps):
            outputs.append(torch.relu(x + step))
        return self.layers(torch.cat(outputs))
`;
    const questions = questionsPerNode(`import torch\nimport torch.nn as nn\n${model.repeat(20)}`);
    assert.ok(questions < 18, `${questions} questions a node`);
  });

  it("grows with the file, no faster", () => {
    const text = script.text(258);
    const short = questionsPerNode(copies(text, 4));
    const long = questionsPerNode(copies(text, 16));
    assert.ok(long < 1.1 * short, `${short} questions a node, ${long} in a file four times as long`);
  });

  it("grows with the file, no faster, where answers are remembered", async () => {
    const text = script.text(258);
    const calls = async (copyCount: number): Promise<number> => {
      const parsed = parseModule(copies(text, copyCount));
      return countCalls(/server\/src\/(torch|rules)\//, () => void analyze(parsed));
    };
    await calls(1);
    const [short, long] = [await calls(4), await calls(16)];
    assert.ok(long < 4.3 * short, `${short} calls, ${long} in a file four times as long`);
  });

  it("grows hardly faster with the values that one list takes in", () => {
    const appending = (count: number): string =>
      `import torch\ndef f(xs, out, model):\n    for x in xs:\n        model(x).backward()\n${"        out.append(x)\n".repeat(count)}`;
    const short = questionsPerNode(appending(100));
    const long = questionsPerNode(appending(400));
    assert.ok(long < 1.6 * short, `${short} questions a node, ${long} with four times as many values`);
  });

  it("grows hardly faster where every copy calls functions of the same names", () => {
    const text = faulty.text(1_000);
    const short = questionsPerNode(copies(text, 1));
    const long = questionsPerNode(copies(text, 4));
    assert.ok(long < 1.4 * short, `${short} questions a node, ${long} in a file four times as long`);
  });
});

describe("the work of an estimate", () => {
  before(loadParser);

  /** Everything that anybody asks of a file's trained model. */
  function askAll(text: string): void {
    const parsed = parseModule(text);
    const device = { value: { bytes: 24 * 2 ** 30, card: undefined }, from: "default" as const };
    const setup = { device, ...readHeader(parsed).setup };
    const estimates = estimateModule(parsed.module, buildScopes(parsed.module), setup);
    estimates.all().map(({ saved }) => saved?.perSample);
    estimates.step?.();
    estimates.largestBatch();
    estimates.whatFits();
  }

  // what they took when this was written, and a third more than that
  for (const [name, calls] of Object.entries({ densenet: 2_060_000, t5_like: 2_350_000 })) {
    it(`is so much for all answers about ${name}, one of the two that take longest`, async () => {
      const text = modelText(`${name}.py`);
      askAll(text); // operators are remembered from here on
      const counted = await countCalls(/server\/src\/memory\//, () => {
        askAll(text);
      });
      assert.ok(counted < (4 / 3) * calls, `${counted} calls, expected about ${calls}`);
    });
  }
});
