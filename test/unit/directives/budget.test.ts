import assert from "node:assert/strict";
import {
  budgetFindings,
  budgetVerdict,
  effectiveBatch,
  optimizerName,
} from "../../../server/src/directives/budget";
import { readHeader } from "../../../server/src/directives/header";
import type { ModelEstimate } from "../../../server/src/memory/estimate";
import type { OptimizerSetting, TrainingSetup } from "../../../server/src/memory/setup";
import { message, render } from "../../../server/src/messages/message";
import { parseModule } from "../../../server/src/python/parse";
import type { Finding } from "../../../server/src/rules/rule";
import { applied, headerOf, startParser } from "./helpers";

const GiB = 1024 ** 3;
const body = "import torch\nloss.backward()\n";

function estimateOf(options: { peak?: number; complete?: boolean; states?: number } = {}): ModelEstimate {
  const { peak, complete = true, states = 0 } = options;
  return {
    name: "Net",
    span: { start: 0, end: 0 },
    classSpan: undefined,
    parameters: { count: 0, bytes: states, trainable: 0 },
    buffers: { bytes: 0 },
    gradients: { bytes: states },
    optimizer: { name: "adam", bytes: 2 * states },
    saved: null,
    peak: peak === undefined ? null : { bytes: peak, allocated: peak, phase: "backward", span: undefined },
    complete,
    unknown: [],
    assumptions: [],
  };
}

interface Case {
  readonly header: string;
  readonly estimate?: ModelEstimate;
  readonly script?: TrainingSetup;
}

function findingsOf({ header, estimate, script = {} }: Case): { text: string; findings: Finding[] } {
  const text = `${header}\n${body}`;
  const parsed = parseModule(text);
  const read = readHeader(parsed);
  const verdict = budgetVerdict(read.setup, estimate);
  return {
    text,
    findings: budgetFindings(read, { source: parsed.source, script, verdict, estimate }),
  };
}

/** Rule, level and the text that it is about. */
function told(question: Case): string[] {
  const { text, findings } = findingsOf(question);
  return findings.map(({ rule, level, span }) => `${level} ${rule} ${text.slice(span.start, span.end)}`);
}

describe("budget findings", () => {
  before(startParser);

  it("say nothing where the step fits", () => {
    assert.deepEqual(
      told({ header: "# vram: device=8GiB, budget=6.5GiB", estimate: estimateOf({ peak: 6.5 * GiB }) }),
      [],
    );
  });

  it("say nothing without a header", () => {
    const script: TrainingSetup = { batch: { value: 8, from: "script" } };
    assert.deepEqual(told({ header: "", estimate: estimateOf({ peak: 99 * GiB }), script }), []);
  });

  it("report what is over the budget", () => {
    const question = {
      header: "# vram: device=8GiB, budget=6.5GiB",
      estimate: estimateOf({ peak: 7 * GiB }),
    };
    assert.deepEqual(told(question), ["error budget-exceeded 6.5GiB"]);
    const [finding] = findingsOf(question).findings;
    assert.ok(finding);
    assert.match(
      render(finding.message, "en"),
      /^Needs 7\.00 GiB, 512\.0? ?MiB over the budget of 6\.50 GiB\. The peak is in the backward pass\.$/,
    );
    assert.match(render(finding.message, "zh-cn"), /反向传播/);
  });

  it("report what is over the device, and the budget with it", () => {
    const estimate = estimateOf({ peak: 9 * GiB });
    assert.deepEqual(told({ header: "# vram: device=8GiB, budget=6GiB", estimate }), [
      "error device-exceeded 8GiB",
      "error budget-exceeded 6GiB",
    ]);
    assert.deepEqual(told({ header: "# vram: device=8GiB", estimate }), ["error device-exceeded 8GiB"]);
  });

  it("say `at least` for a lower bound that is over already, and nothing for one that is not", () => {
    const over = { header: "# vram: budget=2GiB", estimate: estimateOf({ peak: 3 * GiB, complete: false }) };
    const [finding] = findingsOf(over).findings;
    assert.equal(finding?.rule, "budget-exceeded");
    assert.match(render(finding.message, "en"), /^Needs at least 3/);
    assert.deepEqual(
      told({ header: "# vram: budget=2GiB", estimate: estimateOf({ peak: GiB, complete: false }) }),
      [],
    );
  });

  it("compare the model states where the peak is not known", () => {
    // 20,000,000 fp32 parameters with Adam: 80 + 80 + 160 MB of states.
    const estimate = estimateOf({ states: 80_000_000 });
    assert.equal(budgetVerdict(headerOf("# vram: budget=1GiB").setup, estimate)?.needed, 320_000_000);
    assert.deepEqual(told({ header: "# vram: budget=300MiB", estimate }), ["error budget-exceeded 300MiB"]);
    assert.deepEqual(told({ header: "# vram: budget=306MiB", estimate }), []);
  });

  it("report a budget above the device, or within its last tenth", () => {
    assert.deepEqual(told({ header: "# vram: device=8GiB, budget=9GiB" }), ["warning budget-invalid 9GiB"]);
    assert.deepEqual(told({ header: "# vram: device=10GiB, budget=9.1GiB" }), [
      "information budget-leaves-no-headroom 9.1GiB",
    ]);
    assert.deepEqual(told({ header: "# vram: device=10GiB, budget=9GiB" }), []);
  });

  it("pass the header's own mistakes on, with their fixes", () => {
    const { findings } = findingsOf({ header: "# vram: batchsize=2" });
    assert.equal(findings[0]?.rule, "budget-invalid");
    assert.equal(findings[0].level, "warning");
    assert.equal(findings[0].fixes[0]?.safety, "review");
  });

  describe("on header and script", () => {
    const script: TrainingSetup = {
      batch: { value: 64, from: "script", span: { start: 30, end: 32 } },
      accumulate: { value: 2, from: "script" },
      precision: { value: "amp-bf16", from: "script" },
      optimizer: { value: { name: "torch.optim.SGD", options: { lr: 0.1, momentum: 0.9 } }, from: "script" },
    };

    it("report what disagrees, and change the header to the script's value", () => {
      const question = { header: "# vram: batch=32, accumulate=4, precision=fp32, optimizer=adam", script };
      assert.deepEqual(told(question), [
        "warning budget-disagrees-with-script 32",
        "warning budget-disagrees-with-script 4",
        "warning budget-disagrees-with-script fp32",
        "warning budget-disagrees-with-script adam",
      ]);
      const { text, findings } = findingsOf(question);
      const edits = findings.flatMap(({ fixes }) => fixes.flatMap((fix) => fix.edits));
      assert.equal(
        applied(text, edits).split("\n")[0],
        "# vram: batch=64, accumulate=2, precision=amp-bf16, optimizer=sgd-momentum",
      );
      assert.deepEqual(findings[0]?.related[0]?.span, { start: 30, end: 32 });
    });

    it("say nothing where they agree", () => {
      const header = "# vram: batch=64, accumulate=2, precision=amp-bf16, optimizer=sgd(momentum=0.9)";
      assert.deepEqual(told({ header, script }), []);
    });

    it("say nothing of what the script does not say itself", () => {
      const defaults: TrainingSetup = { batch: { value: 1, from: "default" } };
      assert.deepEqual(told({ header: "# vram: batch=32", script: defaults }), []);
    });
  });

  it("call optimizers by the header's names", () => {
    const names: readonly [OptimizerSetting, string | undefined][] = [
      [{ name: "torch.optim.AdamW", options: { fused: true } }, "adamw"],
      [{ name: "adamw-fused", options: {} }, "adamw"],
      [{ name: "torch.optim.SGD", options: {} }, "sgd"],
      [{ name: "torch.optim.SGD", options: { momentum: 0 } }, "sgd"],
      [{ name: "torch.optim.SGD", options: { momentum: 0.9 } }, "sgd-momentum"],
      [{ name: "bitsandbytes.optim.PagedAdamW8bit", options: {} }, "paged_adamw8bit"],
      [{ name: "transformers.Adafactor", options: {} }, "adafactor"],
      [{ name: "company.optim.Secret", options: {} }, undefined],
    ];
    for (const [setting, expected] of names) assert.equal(optimizerName(setting), expected, setting.name);
  });

  it("multiply to the effective batch", () => {
    assert.equal(effectiveBatch(headerOf("# vram: batch=16, accumulate=4").setup), 64);
    assert.equal(effectiveBatch(headerOf("# vram: batch=16, accumulate=2, devices=2").setup), 64);
    assert.equal(effectiveBatch(headerOf("# vram: accumulate=2").setup), undefined);
  });

  it("name the line of the peak and what is not understood", () => {
    const text = `# vram: budget=1GiB\n${body}`;
    const parsed = parseModule(text);
    const at = text.indexOf("loss");
    const estimate: ModelEstimate = {
      ...estimateOf({ complete: false }),
      peak: { bytes: 2 * GiB, allocated: 2 * GiB, phase: "step", span: { start: at, end: at + 4 } },
      unknown: [
        { span: { start: at, end: at + 4 }, reason: message({ en: "a riddle", "zh-cn": "谜" }) },
        { span: undefined, reason: message({ en: "the optimizer", "zh-cn": "优化器" }) },
      ],
    };
    const header = readHeader(parsed);
    const verdict = budgetVerdict(header.setup, estimate);
    const [finding] = budgetFindings(header, { source: parsed.source, script: {}, verdict, estimate });
    assert.ok(finding);
    assert.match(render(finding.message, "en"), /optimizer step at line 3\.$/);
    const facts = { source: parsed.source, script: {}, verdict, estimate, isInCells: true };
    const [inNotebook] = budgetFindings(header, facts);
    assert.ok(inNotebook);
    assert.match(render(inNotebook.message, "en"), /in the optimizer step\.$/);
    assert.deepEqual(
      finding.related.map(({ message: note }) => render(note, "en")),
      ["The step's peak is here.", "Not understood: a riddle", "Not understood: the optimizer"],
    );
  });
});
