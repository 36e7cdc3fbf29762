import assert from "node:assert/strict";
import { sectionStarts } from "../../../server/src/python/sections";

/** The parts of a text, each by its first line. */
function cuts(text: string): string[] {
  return sectionStarts(text).map((start) => text.slice(start).split(/\r?\n/, 1)[0] ?? "");
}

describe("the parts that a text is parsed in", () => {
  it("are functions, classes and what stands between them", () => {
    const text = "import a\nb = 1\n\ndef f():\n    c\n\n\nclass D:\n    def g(self): ...\n\n\nb()\nb()\n";
    assert.deepEqual(cuts(text), ["import a", "def f():", "class D:", "b()"]);
  });

  it("hold decorators with what they decorate", () => {
    const text = "a\n@b\n# c\n@d(\n    e\n)\nasync def f(): ...\n@g\nclass H: ...\n";
    assert.deepEqual(cuts(text), ["a", "@b", "@g"]);
  });

  it("are cut where many simple statements follow each other", () => {
    assert.deepEqual(sectionStarts("a = 1\n".repeat(300)), [0, 1_500]);
  });

  it("are not cut before what continues a statement", () => {
    assert.deepEqual(cuts("if a:\n    b = '''\ndef f():\n'''\nelif c:\n    d\nelse:\n    e\n"), ["if a:"]);
  });

  it("do not begin in strings, brackets, comments and continued lines", () => {
    const inside = [
      "a = '''\ndef f(): ...\n'''",
      'a = """\ndef f(): ...\n\\"""\ndef g(): ...\n"""',
      "a = [\nb,\n(\nc,\n)\n]",
      "a = \\\ndef_",
      "a = \\\r\ndef_",
      "# '''\n# (",
      "a = 'b\\\ndef f(): ...'",
      "a = f'{b\n!r}{c:#x}{{'",
      "a = f'''{b('''\nc''')}\ndef_\n'''",
    ];
    for (const text of inside) {
      assert.deepEqual(sectionStarts(`${text}\n`), [0], text);
      assert.equal(cuts(`${text}\ndef last(): ...\n`).at(-1), "def last(): ...", text);
    }
  });

  it("begin anew after a bracket or a quote that is still open", () => {
    assert.deepEqual(cuts("def f():\n    g(\n\n\ndef h(): ...\n"), ["def f():", "def h(): ..."]);
    assert.deepEqual(cuts("a(\n@b(\n    c\n)\n@d\ndef h(): ...\n"), ["a(", "@b("]);
    assert.deepEqual(cuts("a(\nb\n@c\n)\ndef h(): ...\n"), ["a(", "def h(): ..."]);
    assert.deepEqual(cuts("a = f(')\ndef h(): ...\n"), ["a = f(')", "def h(): ..."]);
  });

  it("of nothing are one", () => assert.deepEqual(sectionStarts(""), [0]));
});
