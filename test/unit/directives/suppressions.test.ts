import assert from "node:assert/strict";
import { applySuppressions } from "../../../server/src/directives/suppressions";
import { message, render } from "../../../server/src/messages/message";
import { parseModule } from "../../../server/src/python/parse";
import type { Finding } from "../../../server/src/rules/rule";
import { applied, startParser } from "./helpers";

const ruleNames = [
  "loss-graph-retained",
  "empty-cache-in-loop",
  "budget-exceeded",
  "suppression-unused",
  "suppression-unknown-rule",
];

interface Outcome {
  /** Rule and line (from 1) of the findings that stay, those about suppressions included. */
  readonly stay: string[];
  readonly findings: readonly Finding[];
  readonly text: string;
}

/** Every `LOSS` and `CACHE` of the text is a finding. */
function outcome(text: string, options: { readonly ran?: (rule: string) => boolean } = {}): Outcome {
  const parsed = parseModule(text);
  const findings: Finding[] = [...text.matchAll(/\b(LOSS|CACHE)\b/g)].map((match) => ({
    rule: match[1] === "LOSS" ? "loss-graph-retained" : "empty-cache-in-loop",
    level: "error",
    span: { start: match.index, end: match.index + match[0].length },
    message: message({ en: "found", "zh-cn": "发现" }),
    related: [],
    fixes: [],
  }));
  const visible = applySuppressions(parsed, findings, { all: ruleNames, ran: options.ran ?? (() => true) });
  const stay = visible.map(({ rule, span }) => `${rule}@${parsed.source.lineOf(span.start) + 1}`);
  return { stay, findings: visible, text };
}

/** The text after one fix of the only finding. */
function fixed({ findings, text }: Outcome, index = 0): string | undefined {
  assert.equal(findings.length, 1);
  const fix = findings[0]?.fixes[index];
  return fix && applied(text, fix.edits);
}

describe("suppressions", () => {
  before(startParser);

  const hides: Readonly<Record<string, string>> = {
    "on its line": "LOSS()  # vram: ignore[loss-graph-retained]\n",
    "with a reason": "LOSS()  # vram: ignore[loss-graph-retained] -- summed on purpose, see [1]\n",
    "in any case, with spaces": "LOSS()  # VRAM:Ignore [ Loss-Graph-Retained , ]\n",
    "with Chinese punctuation": "LOSS()  # vram：ignore［loss-graph-retained］\n",
    "several rules": "f(LOSS, CACHE)  # vram: ignore[loss-graph-retained, empty-cache-in-loop]\n",
    "behind another tool's comment": "LOSS()  # noqa: E501  # vram: ignore[loss-graph-retained]\n",
    "before another tool's comment": "LOSS()  # vram: ignore[loss-graph-retained]  # type: ignore\n",
    "on the line above": "# vram: ignore[loss-graph-retained]\nLOSS()\n",
    "above, with other comments and empty lines between":
      "# vram: ignore[loss-graph-retained]\n# why\n\nLOSS()\n",
    "at the end of a statement of several lines":
      "f(\n  LOSS,\n  2,\n)  # vram: ignore[loss-graph-retained]\n",
    "at the start of a statement of several lines": "f(  # vram: ignore[loss-graph-retained]\n  LOSS,\n)\n",
    "above a statement of several lines": "# vram: ignore[loss-graph-retained]\nf(\n  1,\n  LOSS,\n)\n",
    "on its own line inside a statement": "f(\n  # vram: ignore[loss-graph-retained]\n  LOSS,\n)\n",
    "above a compound statement's head": "# vram: ignore[loss-graph-retained]\nfor x in LOSS:\n    pass\n",
    "above decorators":
      "# vram: ignore[loss-graph-retained]\n@torch.no_grad()\ndef f(\n  a=LOSS,\n):\n    pass\n",
    "in an indented block":
      "if x:\n    while y:\n        # vram: ignore[loss-graph-retained]\n        LOSS()\n",
    "on an else line": "if x:\n    pass\nelse: LOSS()  # vram: ignore[loss-graph-retained]\n",
    "to the end of the file": "# vram: disable[loss-graph-retained]\nLOSS()\nif x:\n    LOSS()\n",
    "in the whole file":
      '"""Doc."""\n# vram: ignore-file[loss-graph-retained] -- old script\nimport a\nLOSS()\n',
    "with CRLF": "x = 1\r\nLOSS()  # vram: ignore[loss-graph-retained]\r\n",
    "without a last line end": "LOSS()  # vram: ignore[loss-graph-retained]",
    "beside a syntax error": "def (:\nLOSS()  # vram: ignore[loss-graph-retained]\n",
  };
  for (const [name, text] of Object.entries(hides)) {
    it(`hide ${name}`, () => assert.deepEqual(outcome(text).stay, []));
  }

  it("hide one line, not its neighbours", () => {
    const text = "LOSS()\nLOSS()  # vram: ignore[loss-graph-retained]\nLOSS()\n";
    assert.deepEqual(outcome(text).stay, ["loss-graph-retained@1", "loss-graph-retained@3"]);
  });

  it("above a compound statement do not reach its body", () => {
    const text = "# vram: ignore[loss-graph-retained]\nfor x in LOSS:\n    LOSS()\n";
    assert.deepEqual(outcome(text).stay, ["loss-graph-retained@3"]);
  });

  it("on the head of a compound statement do not reach its body", () => {
    const text = "for x in LOSS:  # vram: ignore[loss-graph-retained]\n    LOSS()\n";
    assert.deepEqual(outcome(text).stay, ["loss-graph-retained@2"]);
  });

  it("of another rule hide nothing", () => {
    const text = "LOSS()  # vram: ignore[empty-cache-in-loop]\n";
    assert.deepEqual(outcome(text).stay, ["loss-graph-retained@1", "suppression-unused@1"]);
  });

  it("hold between disable and enable", () => {
    const text =
      "LOSS()\n# vram: disable[loss-graph-retained]\nLOSS()\n# vram: enable[loss-graph-retained]\nLOSS()\n";
    assert.deepEqual(outcome(text).stay, ["loss-graph-retained@1", "loss-graph-retained@5"]);
  });

  describe("that miss", () => {
    it("are reported and removed with their line", () => {
      const found = outcome("a()\n  # vram: ignore[loss-graph-retained]\nb()\n");
      assert.deepEqual(found.stay, ["suppression-unused@2"]);
      assert.equal(found.findings[0]?.fixes[0]?.safety, "safe");
      assert.equal(fixed(found), "a()\nb()\n");
    });

    it("are removed from behind code", () => {
      assert.equal(fixed(outcome("a()   # vram: ignore[loss-graph-retained] -- why\nb()\n")), "a()\nb()\n");
    });

    it("are removed from between other tools' comments", () => {
      const text = "a()  # noqa  # vram: ignore[loss-graph-retained]  # type: ignore\n";
      assert.equal(fixed(outcome(text)), "a()  # noqa  # type: ignore\n");
      assert.equal(fixed(outcome("a()  # noqa  # vram: ignore[loss-graph-retained]\n")), "a()  # noqa\n");
    });

    it("lose only the name that misses", () => {
      const found = outcome("LOSS()  # vram: ignore[loss-graph-retained, empty-cache-in-loop]\n");
      assert.equal(fixed(found), "LOSS()  # vram: ignore[loss-graph-retained]\n");
      const first = outcome("LOSS()  # vram: ignore[empty-cache-in-loop, loss-graph-retained]\n");
      assert.equal(fixed(first), "LOSS()  # vram: ignore[loss-graph-retained]\n");
    });

    it("are not called unused when their rule did not run", () => {
      const text = "a()  # vram: ignore[loss-graph-retained]\n";
      assert.deepEqual(outcome(text, { ran: () => false }).stay, []);
    });

    it("are not called unused where a syntax error hides code from the rules", () => {
      const text = "def (:\na()  # vram: ignore[loss-graph-retained]\n";
      assert.deepEqual(outcome(text).stay, []);
    });

    it("are reported when they enable what is not disabled", () => {
      assert.deepEqual(outcome("a()\n# vram: enable[loss-graph-retained]\n").stay, ["suppression-unused@2"]);
    });

    it("are reported when ignore-file comes too late", () => {
      assert.deepEqual(outcome("a()\n# vram: ignore-file[loss-graph-retained]\nLOSS()\n").stay, [
        "loss-graph-retained@3",
        "suppression-unused@2",
      ]);
    });
  });

  describe("that name no rule", () => {
    it("are reported with the nearest name", () => {
      const found = outcome("a()  # vram: ignore[loss-graph-retianed]\n");
      assert.deepEqual(found.stay, ["suppression-unknown-rule@1"]);
      const [finding] = found.findings;
      assert.ok(finding);
      assert.match(render(finding.message, "en"), /`loss-graph-retained` is probably meant/);
      assert.equal(found.text.slice(finding.span.start, finding.span.end), "loss-graph-retianed");
      assert.equal(fixed(found), "a()  # vram: ignore[loss-graph-retained]\n");
      assert.ok(
        finding.fixes.every(({ safety }) => safety === "review"),
        "none may happen unseen",
      );
    });

    const malformed: Readonly<Record<string, [at: string, fixed: string | undefined]>> = {
      "# vram: ignore": ["ignore", "# vram: ignore[loss-graph-retained]"],
      "# vram: ignore[ ]": ["ignore", "# vram: ignore[loss-graph-retained]"],
      "# vram: ignore[ -- why": ["ignore", "# vram: ignore[loss-graph-retained] -- why"],
      "# vram: ignore -- why": ["ignore", "# vram: ignore[loss-graph-retained] -- why"],
      "# vram: enable": ["enable", undefined],
      "# vram: ignore loss-graph-retained": ["ignore loss-graph-retained", undefined],
      "# vram: ignore[loss-graph-retained": ["ignore[loss-graph-retained", undefined],
      "# vram: ignore[loss-graph-retained] because": ["ignore[loss-graph-retained] because", undefined],
      "# vram: ingore[loss-graph-retained]": ["ingore", "# vram: ignore[loss-graph-retained]"],
      "# vram: ignore_file[loss-graph-retained]": ["ignore_file", "# vram: ignore-file[loss-graph-retained]"],
      "# vram: noqa": ["noqa", "# vram: ignore"],
      "# vram: ignore[all]": ["all", ""],
      "# vram: ignore[constructor]": ["constructor", ""],
    };
    for (const [comment, [at, after]] of Object.entries(malformed)) {
      it(`reports ${comment}`, () => {
        const found = outcome(`${comment}\nLOSS()\n`);
        const [kept, about] = found.findings;
        assert.equal(kept?.rule, "loss-graph-retained");
        assert.equal(about?.rule, "suppression-unknown-rule");
        assert.equal(found.text.slice(about.span.start, about.span.end), at);
        const fix = about.fixes[0];
        const result = fix && applied(found.text, fix.edits).split("LOSS()")[0]?.trimEnd();
        assert.equal(result, after);
      });
    }
  });

  it("can hide what is said about suppressions", () => {
    const text = "# vram: ignore-file[suppression-unused]\na()  # vram: ignore[loss-graph-retained]\n";
    assert.deepEqual(outcome(text).stay, []);
    assert.deepEqual(outcome("# vram: ignore-file[suppression-unused]\na()\n").stay, [
      "suppression-unused@1",
    ]);
  });

  it("leave comments of other tools and header lines alone", () => {
    const text = "# vram: batch=2\na()  # noqa\nb()  # type: ignore[assignment]\n# vram: a note\n";
    assert.deepEqual(outcome(text).stay, []);
  });

  it("take linear time on large files", () => {
    const text = "LOSS()  # vram: ignore[loss-graph-retained]\n".repeat(3000);
    assert.deepEqual(outcome(text).stay, []);
  });
});
