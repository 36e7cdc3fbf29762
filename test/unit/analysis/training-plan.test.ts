/**
 * The training plan of whole scripts, compared with `test-fixtures/training-plan/NAME.md` and `NAME.zh-cn.md`.
 * `UPDATE_PLANS=1` writes those anew: read the difference before it is committed.
 */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { analyze } from "../../../server/src/analysis";
import { trainingPlan } from "../../../server/src/analysis/training-plan";
import { languages } from "../../../server/src/messages/message";
import type { Language } from "../../../server/src/messages/message";
import { parseModule } from "../../../server/src/python/parse";
import { loadParser } from "../../support/parser";

const folder = path.join(__dirname, "../../../test-fixtures/training-plan");
const scripts = readdirSync(folder).filter((name) => name.endsWith(".py"));

function planOf(text: string, language: Language): string {
  const parsed = parseModule(text);
  const subject = {
    file: "train.py",
    parsed,
    analysis: analyze(parsed),
    placeOf: ({ start }: { start: number }) => ({ line: parsed.source.lineOf(start) + 1 }),
  };
  return trainingPlan(subject, language);
}

/** The lines of a section, without its title. */
function section(plan: string, title: string): string {
  const found = plan.split(/^### /m).find((part) => part.startsWith(`${title}\n`));
  assert.ok(found, `no section ${title}`);
  return found;
}

describe("the training plan", () => {
  before(loadParser);

  for (const script of scripts) {
    for (const language of languages) {
      const golden = script.replace(/\.py$/, language === "en" ? ".md" : `.${language}.md`);
      it(`${golden} is what ${script} and its header say`, () => {
        const plan = planOf(readFileSync(path.join(folder, script), "utf8"), language);
        const file = path.join(folder, golden);
        if (process.env["UPDATE_PLANS"] !== undefined) writeFileSync(file, plan);
        assert.ok(existsSync(file), "run with UPDATE_PLANS=1 once");
        assert.equal(plan, readFileSync(file, "utf8"));
      });
    }
  }

  it("keeps pieces of the script from breaking the Markdown", () => {
    const text =
      '"""First | second `third`"""\nimport torch\nfrom torch.utils.data import DataLoader\nDataLoader(a | b, shuffle=True)\n';
    const rows = section(planOf(text, "en"), "Task and data").split("\n");
    assert.ok(rows.includes("| Task | First \\| second 'third' | docstring, line 1 |"), rows.join("\n"));
    assert.ok(rows.includes("| Training data | `a \\| b` | script, line 4 |"), rows.join("\n"));
  });

  it("calls seeds seeds only where they are", () => {
    const text = `import random, torch
import transformers
rng = torch.Generator()
rng.manual_seed(3)
random.seed()
model.manual_seed(4)
transformers.set_seed(config.seed)
`;
    const rows = section(planOf(text, "en"), "Task and data")
      .split("\n")
      .filter((row) => row.startsWith("| Seed"));
    assert.deepEqual(rows, [
      "| Seed | 3 | script, line 4 |",
      "| Seed | set, value not constant | script, line 7 |",
    ]);
  });

  it("never promises what is only a lower bound", () => {
    const plan = planOf(readFileSync(path.join(folder, "lower-bound.py"), "utf8"), "en");
    assert.match(section(plan, "Estimate"), /No verdict against the limit/);
    const within = section(plan, "Order of experiments")
      .split("\n")
      .filter((row) => /^\| \d/.test(row))
      .map((row) => row.split(" | ")[4]);
    assert.ok(within.length > 0);
    for (const cell of within) assert.notEqual(cell, "yes");
  });

  it("marks everything as open for a file that says nothing", () => {
    const plan = planOf("import torch\n", "en");
    assert.doesNotMatch(plan, /\bGiB\b(?! = 2\^30)(?! 32)/, "no figure is made up");
    for (const entry of [
      "Task",
      "Training data",
      "Split",
      "Seed",
      "Model",
      "Device",
      "Budget",
      "Micro-batch",
    ]) {
      assert.match(plan, new RegExp(`^\\| ${entry} \\| \\*\\*to be filled\\*\\* \\|`, "m"));
    }
  });
});
