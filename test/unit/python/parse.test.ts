import assert from "node:assert/strict";
import { parseModule, type ParsedModule } from "../../../server/src/python/parse";
import type { Node } from "../../../server/src/python/tree";
import { forEachChild, walk } from "../../../server/src/python/walk";
import { loadParser } from "../../support/parser";
import { printTree } from "../../support/print-tree";

function parse(source: string): ParsedModule {
  const parsed = parseModule(source);
  return parsed;
}

/** What every tree has, whatever the source: parents that fit, spans inside the text. */
function assertSound(parsed: ParsedModule): void {
  const { length } = parsed.source.text;
  walk(parsed.module, {
    enter(node) {
      assert.ok(node.start >= 0 && node.start <= node.end && node.end <= length, `span of ${node.kind}`);
      forEachChild(node, (child) => assert.equal(child.parent, node, `parent of ${child.kind}`));
    },
  });
  for (const { start, end, text } of parsed.module.comments) {
    assert.equal(parsed.source.text.slice(start, end), text);
  }
}

/** The tree as ordinary recursion sees it, which would overflow on one that is too deep. */
function depthOf(node: Node): number {
  let deepest = 0;
  forEachChild(node, (child) => {
    deepest = Math.max(deepest, depthOf(child));
  });
  return deepest + 1;
}

/** `kind text` of every node, in source order: does not depend on line ends. */
function outline(parsed: ParsedModule): string[] {
  const lines: string[] = [];
  walk(parsed.module, {
    enter(node) {
      const text = parsed.source.slice(node).replace(/\r\n?/g, "\n");
      const value = node.kind === "String" ? JSON.stringify(node.value) : "";
      lines.push(`${node.kind} ${value} ${text}`);
    },
  });
  return lines;
}

const SAMPLE = [
  "# first",
  "import torch",
  "",
  "class Net(torch.nn.Module):  # second",
  "    def forward(self, x):",
  "        '''two",
  "        lines'''",
  "        if x.sum() > 0 and \\",
  "                x.mean():",
  "            # third",
  "            return (x,",
  "                    f'{x}')",
  "        return 'é' + x",
  "",
].join("\n");

describe("parsing", () => {
  before(loadParser);

  describe("positions", () => {
    it("count UTF-16 units in text beyond ASCII", () => {
      const { module, source } = parse("é = '😀'; 名前 = é\n𝐱 = 1");
      const names: string[] = [];
      walk(module, {
        enter(node) {
          if (node.kind === "Name") names.push(source.slice(node));
        },
      });
      assert.deepEqual(names, ["é", "名前", "é", "𝐱"]);
    });

    it("compare identifiers in normal form KC", () => {
      assert.equal(printTree(parse("ﬁt = 𝐱").module), "(= fit x)");
    });

    it("begin a decorated definition at its first decorator", () => {
      const [definition] = parse("\n@a\n@b\nasync def f(): pass").module.body;
      if (definition?.kind !== "FunctionDefinition") assert.fail();
      assert.deepEqual([definition.start, definition.definitionStart], [1, 7]);
      assert.deepEqual(
        definition.decorators.map(({ start, end }) => [start, end]),
        [
          [1, 3],
          [4, 6],
        ],
      );
    });

    it("end a compound statement with its last statement, not with comments after it", () => {
      const [statement] = parse("if a:\n    b\n    # c\n\nd").module.body;
      assert.equal(statement?.end, 11);
    });

    it("leave brackets out of an expression and keep them in a tuple", () => {
      const spans = parse("((a))\n(b, c)\nd, e,").module.body.map((statement) => {
        if (statement.kind !== "ExpressionStatement") assert.fail();
        return [statement.expression.start, statement.expression.end];
      });
      assert.deepEqual(spans, [
        [2, 3],
        [6, 12],
        [13, 18],
      ]);
    });

    it("span a call's argument list with its brackets", () => {
      const [statement] = parse("f (a)(b for b in c)").module.body;
      if (statement?.kind !== "ExpressionStatement" || statement.expression.kind !== "Call") assert.fail();
      const outer = statement.expression;
      if (outer.callee.kind !== "Call") assert.fail();
      assert.deepEqual(
        [outer.callee.argumentList, outer.argumentList],
        [
          { start: 2, end: 5 },
          { start: 5, end: 19 },
        ],
      );
    });
  });

  describe("comments", () => {
    it("are kept in source order with the place they stand in", () => {
      const { comments } = parse(SAMPLE).module;
      assert.deepEqual(
        comments.map(({ text, ownLine }) => [text, ownLine]),
        [
          ["# first", true],
          ["# second", false],
          ["# third", true],
        ],
      );
    });

    it("are found between the parts of any node", () => {
      const source =
        "f(  #1\n a  #2\n .b,  #3\n c=  #4\n d)  #5\nx = [  #6\n 1 +  #7\n 2 and  #8\n 3  #9\n]\n@a  #10\ndef g():  #11\n  pass  #12";
      assert.equal(parse(source).module.comments.length, 12);
    });

    it("do not start inside strings", () => {
      assert.deepEqual(parse("'#a' + f'{b}#c'").module.comments, []);
    });
  });

  describe("line ends", () => {
    it("make no difference to the tree", () => {
      const expected = outline(parse(SAMPLE));
      assert.deepEqual(outline(parse(SAMPLE.replaceAll("\n", "\r\n"))), expected);
      assert.deepEqual(outline(parse(SAMPLE.replaceAll("\n", "\r"))), expected);
    });

    it("may be mixed", () => {
      assert.equal(printTree(parse("a\rb\r\nc\nd\r").module), "a\nb\nc\nd");
    });

    it("are not part of a comment", () => {
      for (const lineEnd of ["\n", "\r\n", "\r"]) {
        const { module } = parse(`# a${lineEnd}b`);
        assert.deepEqual(module.comments, [{ start: 0, end: 3, text: "# a", ownLine: true }]);
      }
    });
  });

  describe("unusual sources", () => {
    const sources: Readonly<Record<string, string>> = {
      nothing: "",
      "white space": "  \n\t\n",
      "a comment without a line end": "# a",
      "a byte order mark": "\ufeffa = 1",
      "a form feed": "a = 1\n\fb = 2\n",
      "tabs and spaces": "if a:\n\tb\n        c\n",
      "a backslash at the end": "a = 1 + \\",
      "an unfinished string": "a = 'b\nc = 1",
      "an unfinished triple-quoted string": "a = '''b\nc = 1",
      "an unfinished f-string": "a = f'{b\nc = 1",
      "an unfinished call": "f(a,\nb = 1\n",
      "a NUL": "a = 1\0\nb = 2\n",
      "lone surrogates": "a = '\ud800'\nb = '\udc00'",
      "other control characters": "a\x01 = \x7f1\nb = 2",
      "no-break spaces": "a\u00a0= 1",
      "only brackets": ")]}([{",
      "only keywords": "if else for in while def class return",
      "wrong indentation": "  a\n b\n   c\nif d:\ne\n",
      "an empty body": "def f():\nclass A:\n",
      "decorators alone": "@a\n@b\n",
      "an operator without an operand": "a = b +\nc = d",
      "an attribute without a name": "a = b.\nc = d",
      "an unfinished with": "with torch.no_grad(\n    a()\nb()",
      "an unfinished except": "try:\n  a\nexcept\nb",
      "merge conflict marks": "<<<<<<< a\nb = 1\n=======\nb = 2\n>>>>>>> c\n",
      "another language": "int main(void) { return 0; } // c",
      "a notebook magic": "%matplotlib inline\n!pip install torch\na = 1",
    };
    for (const [name, source] of Object.entries(sources)) {
      it(name, () => assertSound(parse(source)));
    }

    it("keep the statements around an error", () => {
      const { module } = parse("a = 1\nb = = 2\nc = 3\n");
      assert.equal(module.body[0]?.kind, "Assign");
      assert.equal(module.body.at(-1)?.kind, "Assign");
      assert.ok(module.errors.length > 0);
      assert.match(printTree(module), /^\(= a 1\)\n.*INVALID.*\n\(= c 3\)$/s);
    });

    it("make what holds an error invalid and keep its readable parts", () => {
      const { module } = parse("f(a, b c, d)\ng(e)\n");
      const tree = printTree(module);
      assert.match(tree, /^\(INVALID f a .*d\)\n\(call g e\)$/);
    });

    it("make a statement with a missing part invalid, and no name of nothing", () => {
      const { module } = parse("for x in :\n    a\nb\n");
      walk(module, {
        enter(node) {
          if (node.kind === "Name") assert.notEqual(node.id, "");
        },
      });
      assert.ok(module.errors.length > 0);
      assert.equal(printTree(module).split("\n").at(-1), "b");
    });

    it("a byte order mark moves no offset", () => {
      const [statement] = parse("\ufeffa = 1").module.body;
      assert.equal(statement?.start, 1);
    });

    it("notes no error in sound source", () => {
      assert.deepEqual(parse(SAMPLE).module.errors, []);
    });
  });

  describe("depth", () => {
    const count = 20_000;
    const sources: Readonly<Record<string, string>> = {
      "brackets inside brackets": "(".repeat(count) + "a" + ")".repeat(count),
      "lists inside lists": "[".repeat(count) + "]".repeat(count),
      "brackets that never close": "(".repeat(count),
      "a chain of calls": "a" + ".b()".repeat(count),
      "a chain of subscripts": "a" + "[0]".repeat(count),
      "a long sum": Array.from({ length: count }, () => "a").join(" + "),
      "a long power": Array.from({ length: count }, () => "a").join(" ** "),
      "many nots": "not ".repeat(count) + "a",
      "many minuses": "-".repeat(count) + "a",
      "many conditionals": "a if b else ".repeat(count) + "c",
      "many lambdas": "lambda: ".repeat(count) + "a",
      "many elifs": "if a: b\n" + "elif a: b\n".repeat(count) + "else: c\n",
      "many awaits": "await ".repeat(count) + "a",
      "dictionaries inside dictionaries": "{1:".repeat(count) + "1" + "}".repeat(count),
      "a union of many types": "x: " + Array.from({ length: count }, () => "a").join(" | "),
      "patterns inside patterns": "match a:\n case " + "[".repeat(count) + "]".repeat(count) + ": pass",
      "deep indentation":
        Array.from({ length: 1000 }, (_, level) => " ".repeat(level) + "if a:\n").join("") +
        " ".repeat(1000) +
        "b",
    };
    for (const [name, source] of Object.entries(sources)) {
      it(`is bounded for ${name}`, () => {
        const parsed = parse(source);
        assertSound(parsed);
        assert.ok(depthOf(parsed.module) < 1000);
      });
    }

    it("keeps the neighbours of what is cut off", () => {
      const { module } = parse(`a = 1\n${"(".repeat(5000)}b${")".repeat(5000)}  # c\nd = 2`);
      assert.equal(module.body.length, 3);
      assert.equal(module.body[1]?.kind, "ExpressionStatement");
      assert.match(printTree(module), /^\(= a 1\)\n\(INVALID\)\n\(= d 2\)$/);
      assert.equal(module.comments.length, 1);
    });

    it("keeps long chains of one kind flat", () => {
      const many = Array.from({ length: 5000 }, () => "a");
      const operands = parse(many.join(" and ")).module.body[0];
      if (operands?.kind !== "ExpressionStatement" || operands.expression.kind !== "BooleanOperation")
        assert.fail();
      assert.equal(operands.expression.operands.length, 5000);
      const targets = parse(many.join(" = ")).module.body[0];
      if (targets?.kind !== "Assign") assert.fail();
      assert.equal(targets.targets.length, 4999);
      const comparison = parse(many.join(" < ")).module.body[0];
      if (comparison?.kind !== "ExpressionStatement" || comparison.expression.kind !== "Comparison")
        assert.fail();
      assert.equal(comparison.expression.operands.length, 5000);
    });
  });
});
