import assert from "node:assert/strict";
import { parseModule, type ParsedModule } from "../../../server/src/python/parse";
import type { Expression, Node } from "../../../server/src/python/tree";
import {
  ancestors,
  childrenOf,
  dottedPath,
  enclosingFunction,
  enclosingLoop,
  enclosingStatement,
  isStatement,
  nodeAtOffset,
  statementList,
  walk,
} from "../../../server/src/python/walk";
import { loadParser } from "../../support/parser";
import { printTree } from "../../support/print-tree";

const SOURCE = [
  "import a",
  "for b in c(b1):",
  "    def f(d=d1):",
  "        while e:",
  "            g = h.i(j, k=l)",
  "        else:",
  "            m",
  "        return lambda n: o",
  "else:",
  "    p",
  "for q in r:",
  "    class S:",
  "        t",
  "    u if v else w",
  "try: x1",
  "except A: x2",
  "finally: x3",
].join("\n");

function parse(source: string): ParsedModule {
  const parsed = parseModule(source);
  return parsed;
}

describe("walking", () => {
  before(loadParser);

  function named(id: string): Node {
    let found: Node | undefined;
    walk(parse(SOURCE).module, {
      enter(node) {
        if (node.kind === "Name" && node.id === id) found = node;
      },
    });
    assert.ok(found, id);
    return found;
  }

  it("enters and leaves every node once, children inside", () => {
    const events: string[] = [];
    walk(parse("a = b(c)\nd").module, {
      enter: (node) => void events.push(node.kind === "Name" ? node.id : node.kind),
      leave: (node) => void events.push(`/${node.kind === "Name" ? node.id : node.kind}`),
    });
    assert.equal(
      events.join(" "),
      "Module Assign a /a Call b /b c /c /Call /Assign ExpressionStatement d /d /ExpressionStatement /Module",
    );
  });

  it("leaves children out where asked", () => {
    const events: string[] = [];
    walk(parse("f(a)\nb").module, {
      enter(node) {
        events.push(node.kind);
        return node.kind !== "Call";
      },
      leave: (node) => void events.push(`/${node.kind}`),
    });
    assert.deepEqual(events.slice(1, 5), ["ExpressionStatement", "Call", "/Call", "/ExpressionStatement"]);
    assert.equal(events.filter((kind) => kind === "Name").length, 1);
  });

  it("gives all children but the names of attributes and keyword arguments", () => {
    const [statement] = parse("h.i(j, *k, l=m, **n)").module.body;
    assert.ok(statement);
    const [call] = childrenOf(statement);
    assert.ok(call);
    assert.deepEqual(childrenOf(call).map(printTree), ["(. h i)", "j", "(* k)", "m", "n"]);
  });

  it("gives ancestors from the inside out", () => {
    assert.deepEqual(
      [...ancestors(named("j"))].map(({ kind }) => kind),
      ["Call", "Assign", "While", "FunctionDefinition", "For", "Module"],
    );
  });

  it("finds the function around a node", () => {
    assert.equal(enclosingFunction(named("j"))?.kind, "FunctionDefinition");
    assert.equal(enclosingFunction(named("o"))?.kind, "Lambda");
    assert.equal(enclosingFunction(named("p")), undefined);
  });

  it("finds the loop that repeats a node", () => {
    const loopOf = (id: string): string | undefined => enclosingLoop(named(id))?.kind;
    assert.equal(loopOf("j"), "While");
    assert.equal(loopOf("e"), "While");
    assert.equal(loopOf("m"), undefined);
    assert.equal(loopOf("b1"), undefined);
    assert.equal(loopOf("q"), "For");
    assert.equal(loopOf("r"), undefined);
    assert.equal(loopOf("p"), undefined);
    assert.equal(loopOf("t"), undefined);
    assert.equal(loopOf("u"), "For");
    assert.equal(loopOf("o"), undefined);
  });

  it("finds the statement around a node and the list that holds it", () => {
    const placeOf = (id: string): (string | number)[] => {
      const statement = enclosingStatement(named(id));
      assert.ok(statement);
      const place = statementList(statement);
      return [statement.kind, place?.index ?? -1, place?.list.length ?? -1];
    };
    assert.deepEqual(placeOf("j"), ["Assign", 0, 1]);
    assert.deepEqual(placeOf("o"), ["Return", 1, 2]);
    assert.deepEqual(placeOf("v"), ["ExpressionStatement", 1, 2]);
    assert.deepEqual(placeOf("x2"), ["ExpressionStatement", 0, 1]);
    assert.deepEqual(placeOf("x3"), ["ExpressionStatement", 0, 1]);
    assert.equal(enclosingStatement(parse("a").module), undefined);
  });

  it("tells invalid statements from invalid expressions", () => {
    const [statement] = parse("print 'a'").module.body;
    assert.ok(statement?.kind === "Invalid" && isStatement(statement));
    const [assignment] = parse("a = b <> c").module.body;
    assert.ok(assignment?.kind === "Assign" && assignment.value.kind === "Invalid");
    assert.ok(!isStatement(assignment.value));
  });

  it("finds the innermost node at an offset", () => {
    const { module } = parse(SOURCE);
    const at = (text: string, shift = 0): string =>
      printTree(nodeAtOffset(module, SOURCE.indexOf(text) + shift));
    assert.equal(at("h.i"), "h");
    assert.equal(at("h.i", 2), "(. h i)");
    assert.equal(at("j,", 1), "j");
    assert.equal(at("k=l", 1), "(call (. h i) j k=l)");
    assert.equal(nodeAtOffset(module, SOURCE.indexOf("\nfor")).kind, "Import");
    assert.equal(nodeAtOffset(parse("a = 1\n\n\nb").module, 7).kind, "Module");
  });

  it("writes names and attributes as a path", () => {
    const pathOf = (source: string): string | undefined => {
      const [statement] = parse(source).module.body;
      if (statement?.kind !== "ExpressionStatement") assert.fail();
      const expression: Expression = statement.expression;
      return dottedPath(expression);
    };
    assert.equal(pathOf("self.model.encoder"), "self.model.encoder");
    assert.equal(pathOf("a"), "a");
    assert.equal(pathOf("a().b"), undefined);
    assert.equal(pathOf("1"), undefined);
  });
});
