/** A table by node answers as a map does, for whatever node it is asked. */
import assert from "node:assert/strict";
import { NodeTable } from "../../../server/src/python/node-table";
import { nodesOf } from "../../../server/src/python/walk";
import { parseModule as parse } from "../../../server/src/python/parse";
import { loadParser } from "../../support/parser";
import type { Node } from "../../../server/src/python/tree";

describe("tables by node", () => {
  before(loadParser);

  it("hold one value a node, until it is deleted", () => {
    const { module } = parse("a = b\nc = a + b\n");
    const table = new NodeTable<Node, string>(module);
    const nodes = nodesOf(module);
    for (const [index, node] of nodes.entries()) table.set(node, `${index}`);
    assert.deepEqual(
      nodes.map((node) => table.get(node)),
      nodes.map((_, index) => `${index}`),
    );
    const [, second, third] = nodes as [Node, Node, Node];
    table.delete(second);
    assert.equal(table.get(second), undefined);
    assert.equal(table.get(third), "2");
  });

  it("take a node of another file for what it is", () => {
    const { module } = parse("a = b\n");
    const other = nodesOf(parse("x = y\n").module);
    const table = new NodeTable<Node, string>(module);
    for (const node of nodesOf(module)) table.set(node, "own");
    assert.deepEqual(
      other.map((node) => table.get(node)),
      other.map(() => undefined),
    );
    for (const node of other) table.set(node, "other");
    assert.ok(nodesOf(module).every((node) => table.get(node) === "own"));
    assert.ok(other.every((node) => table.get(node) === "other"));
  });

  it("take a node that moved into the tree of an edited text for what it was", () => {
    const before = parse("def f():\n    return 1\n\n\ndef g():\n    return 2\n");
    const table = new NodeTable<Node, string>(before.module);
    const moved = before.module.body[1] as Node;
    table.set(moved, "g");
    const after = before.edit([{ start: 0, end: 0, text: "import torch\n\n\n" }]);
    nodesOf(after.module);
    assert.ok(after.module.body.includes(moved as never), "the node is used again");
    const anew = new NodeTable<Node, string>(after.module);
    assert.equal(anew.get(moved), undefined);
    anew.set(moved, "g again");
    assert.equal(anew.get(moved), "g again");
  });
});
