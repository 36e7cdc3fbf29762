/** How rules are run: which calls they are shown, and that leaving the others out loses nothing. */
import assert from "node:assert/strict";
import { parseModule } from "../../../server/src/python/parse";
import { buildScopes } from "../../../server/src/python/scope";
import { estimateModule, type Estimates } from "../../../server/src/memory/estimate";
import { render } from "../../../server/src/messages/message";
import { rules } from "../../../server/src/rules/registry";
import { defineRule } from "../../../server/src/rules/rule";
import type { Finding, Rule } from "../../../server/src/rules/rule";
import { runRules, type SharedContext } from "../../../server/src/rules/run";
import { isKnownExport } from "../../../server/src/torch/api-exports";
import { torchFacts } from "../../../server/src/torch/facts";
import { fixtures } from "../../support/fixtures";
import { loadParser } from "../../support/parser";

/** A text's facts and estimates, which are computed once however many runs of rules ask for them. */
function contextOf(text: string): SharedContext {
  const { source, module } = parseModule(text);
  const scopes = buildScopes(module, { isKnownExport });
  let estimates: Estimates | undefined;
  return {
    source,
    module,
    scopes,
    torch: torchFacts(module, scopes),
    get estimates() {
      return (estimates ??= estimateModule(module, scopes, {}, undefined));
    },
  };
}

function findingsOf(context: SharedContext, run: readonly Rule[]): readonly Finding[] {
  const { findings, failures } = runRules(run, context);
  assert.deepEqual(failures, []);
  return [...findings].sort((a, b) => a.span.start - b.span.start || (a.rule < b.rule ? -1 : 1));
}

/** Reports every call that it is shown. */
const cats = defineRule({
  name: "cats",
  group: "data",
  level: "warning",
  summary: { en: "", "zh-cn": "" },
  messages: { seen: { en: "", "zh-cn": "" } },
  calls: ["cat"],
  create: (context) => ({
    Call(call) {
      context.report({ at: call, message: "seen" });
    },
  }),
});

/** Quotes every call that it is shown. */
const quotedCats = defineRule({
  ...cats,
  messages: { seen: { en: "`{call}`", "zh-cn": "“{call}”" } },
  calls: ["cat"],
  create: (context) => ({
    Call(call) {
      const values = { call: context.source.slice(call) };
      context.report({ at: call, message: "seen", values, related: [{ at: call, message: "seen", values }] });
    },
  }),
});

function shown(text: string): string[] {
  return findingsOf(contextOf(text), [cats]).map(({ span }) => text.slice(span.start, span.end));
}

describe("running rules", () => {
  before(loadParser);

  it("shows a rule the calls of the names it asks for, however they are written", () => {
    const text = "import torch\nfrom torch import cat\ntorch.cat(x)\ncat(y)\nz.cat()\ndog(w)\n";
    assert.deepEqual(shown(text), ["torch.cat(x)", "cat(y)", "z.cat()"]);
  });

  it("keeps what a message quotes on the message's line", () => {
    const [finding] = findingsOf(contextOf("import torch\ntorch.cat(\n    x,\n)\n"), [quotedCats]);
    assert.ok(finding !== undefined);
    const texts = [finding.message, ...finding.related.map(({ message }) => message)];
    assert.deepEqual(
      texts.map((text) => render(text, "en")),
      ["`torch.cat( x, )`", "`torch.cat( x, )`"],
    );
  });

  it("shows those of another name that an import gave, wherever the import stands", () => {
    const text =
      "def f(x):\n    return join(x)\n\nfrom torch import cat as join\nimport torch as cat\ncat(x)\n";
    assert.deepEqual(shown(text), ["join(x)", "cat(x)"]);
  });

  it("shows a call once that fits by its name and by its import", () => {
    assert.deepEqual(shown("from torch import cat\nfrom other import cat as cat\ncat(x)\n"), ["cat(x)"]);
  });

  it("shows the inner call of a chain behind the outer one", () => {
    assert.deepEqual(shown("cat(cat(x))\n"), ["cat(cat(x))", "cat(x)"]);
  });

  it("does not begin a rule in a file without such a call", () => {
    const broken: Rule = {
      ...cats,
      create: () => {
        throw new Error("begun");
      },
    };
    assert.deepEqual(findingsOf(contextOf("import torch\ntorch.stack(x)\ncat = 1\n"), [broken]), []);
  });

  describe("finds the same where rules are shown every call", () => {
    const choosing = rules.filter(({ calls }) => calls !== undefined);
    const shownAll = choosing.map((rule): Rule => ({ ...rule, calls: undefined }));

    it("though many choose theirs", () => {
      assert.ok(choosing.length > 10);
    });

    for (const rule of rules) {
      it(`in the fixtures of ${rule.name}`, () => {
        for (const { name, text } of fixtures(`rules/${rule.name}`)) {
          const context = contextOf(text);
          assert.deepEqual(findingsOf(context, choosing), findingsOf(context, shownAll), name);
        }
      });
    }
  });
});
