import assert from "node:assert/strict";
import { parseModule } from "../../../server/src/python/parse";
import { buildScopes, type Binding, type Scope, type Scopes } from "../../../server/src/python/scope";
import type { Expression, Module, Name } from "../../../server/src/python/tree";
import { walk } from "../../../server/src/python/walk";
import { loadParser } from "../../support/parser";
import { printTree } from "../../support/print-tree";

interface Resolved {
  readonly module: Module;
  readonly scopes: Scopes;
}

function resolve(source: string, knownExports: Readonly<Record<string, readonly string[]>> = {}): Resolved {
  const parsed = parseModule(source);
  const isKnownExport = (module: string, name: string): boolean =>
    knownExports[module]?.includes(name) ?? false;
  return { module: parsed.module, scopes: buildScopes(parsed.module, { isKnownExport }) };
}

/** The names written `id`, in source order. */
function namesOf({ module }: Resolved, id: string): Name[] {
  const names: Name[] = [];
  walk(module, {
    enter(node) {
      if (node.kind === "Name" && node.id === id) names.push(node);
    },
  });
  return names.sort((one, other) => one.start - other.start);
}

function lastName(resolved: Resolved, id: string): Name {
  const name = namesOf(resolved, id).at(-1);
  assert.ok(name, `no name ${id}`);
  return name;
}

function scopeName(scope: Scope): string {
  const { owner } = scope;
  return owner.kind === "FunctionDefinition" || owner.kind === "ClassDefinition" ? owner.name.id : owner.kind;
}

/** `kind scope` of each binding that the last use of a name may refer to. */
function bindingsOf(source: string, id: string): string[] {
  const resolved = resolve(source);
  return resolved.scopes
    .lookup(lastName(resolved, id))
    .map(({ kind, scope }) => `${kind} ${scopeName(scope)}`);
}

function onlyBinding(source: string, id: string): Binding {
  const bindings = resolve(source).scopes.module.bindings.get(id) ?? [];
  assert.equal(bindings.length, 1);
  return bindings[0] as Binding;
}

function valueOf(source: string, id: string): string {
  const { value, path } = onlyBinding(source, id);
  return `${value === undefined ? "-" : printTree(value)} [${path.join(" ")}]`;
}

/** The qualified name of the last expression statement. */
function qualified(
  source: string,
  knownExports?: Readonly<Record<string, readonly string[]>>,
): string | undefined {
  const resolved = resolve(source, knownExports);
  const expressions: Expression[] = [];
  walk(resolved.module, {
    enter(node) {
      if (node.kind === "ExpressionStatement") expressions.push(node.expression);
    },
  });
  const last = expressions.at(-1);
  assert.ok(last);
  return resolved.scopes.qualifiedName(last);
}

describe("scopes", () => {
  before(loadParser);

  describe("what binds", () => {
    const cases: readonly (readonly [source: string, name: string, bindings: readonly string[]])[] = [
      ["a = 1\na", "a", ["assignment Module"]],
      ["a: int\na", "a", ["assignment Module"]],
      ["a = 1\na += 1", "a", ["assignment Module", "augmented Module"]],
      ["for a, (b, *c) in d: pass\nc", "c", ["for Module"]],
      ["with a as (b, c): pass\nc", "c", ["with Module"]],
      ["try: pass\nexcept A as a: pass\na", "a", ["except Module"]],
      ["match a:\n  case [b, *c] | {**d}: pass\nd", "d", ["capture Module"]],
      ["match a:\n  case B(): pass", "B", []],
      ["import a.b\na", "a", ["import Module"]],
      ["import a.b as c\nc", "c", ["import Module"]],
      ["def f(): pass\nf", "f", ["function Module"]],
      ["class A: pass\nA", "A", ["class Module"]],
      ["type A = int\nA", "A", ["type-alias Module"]],
      ["a = 1\ndel a\na", "a", ["assignment Module", "delete Module"]],
      ["(a := 1)\na", "a", ["walrus Module"]],
      ["def f(a, /, b=1, *c, d, **e): e", "e", ["parameter f"]],
      ["lambda a: a", "a", ["parameter Lambda"]],
      ["[a for a in b]", "a", ["comprehension Comprehension"]],
      ["a.b = 1\na[0] = 2\na", "a", []],
    ];
    for (const [source, name, bindings] of cases) {
      it(`${name} in ${source.replaceAll("\n", "⏎")}`, () =>
        assert.deepEqual(bindingsOf(source, name), bindings));
    }
  });

  describe("where a name is looked up", () => {
    const cases: readonly (readonly [
      title: string,
      source: string,
      name: string,
      bindings: readonly string[],
    ])[] = [
      ["the nearest function first", "a = 1\ndef f():\n  a = 2\n  a", "a", ["assignment f"]],
      ["functions around a function", "def f():\n  a = 1\n  def g():\n    a", "a", ["assignment f"]],
      [
        "not in classes from their methods",
        "a = 1\nclass A:\n  a = 2\n  def f(self): a",
        "a",
        ["assignment Module"],
      ],
      ["in a class from its own body", "a = 1\nclass A:\n  a = 2\n  a", "a", ["assignment A"]],
      ["defaults outside the function", "a = 1\ndef f(b=a):\n  a = 2", "b", ["parameter f"]],
      ["a lambda's default outside it", "a = 1\nlambda a=a: 0", "a", ["assignment Module"]],
      ["decorators outside", "def d(x): return x\n@d\ndef f():\n  pass", "d", ["function Module"]],
      [
        "a comprehension's first iterable outside",
        "class A:\n  a = 1\n  [0 for _ in a]",
        "a",
        ["assignment A"],
      ],
      ["not in classes from their comprehensions", "class A:\n  a = 1\n  [a for _ in b]", "a", []],
      ["global names in the module", "def f():\n  global a\n  a = 1\na", "a", ["assignment Module"]],
      [
        "global names of functions around",
        "a = 0\ndef f():\n  global a\n  a = 1\n  def g(): a",
        "a",
        ["assignment Module", "assignment Module"],
      ],
      [
        "nonlocal names outside",
        "def f():\n  a = 1\n  def g():\n    nonlocal a\n    a = 2\n  a",
        "a",
        ["assignment f", "assignment f"],
      ],
      [
        "nonlocal names bound later",
        "def f():\n  def g():\n    nonlocal a\n    a = 2\n  a = 1\n  a",
        "a",
        ["assignment f", "assignment f"],
      ],
      [
        "a walrus in a comprehension outside it",
        "def f():\n  [b for c in d if (b := c)]\n  b",
        "b",
        ["walrus f"],
      ],
      ["type parameters in their function", "def f[T](a: T): T", "T", ["type-parameter f"]],
      ["type parameters in a header", "def f[T](a) -> T: pass", "T", ["type-parameter f"]],
      [
        "a class's type parameters in its methods",
        "class A[T]:\n  def f(self): T",
        "T",
        ["type-parameter A"],
      ],
      ["type parameters of an alias", "type A[T] = list[T]", "T", ["type-parameter Module"]],
      ["inside invalid code too", "a = 1\nprint >>a, b", "a", ["assignment Module"]],
    ];
    for (const [title, source, name, bindings] of cases) {
      it(title, () => assert.deepEqual(bindingsOf(source, name), bindings));
    }
  });

  describe("values", () => {
    const cases: readonly (readonly [source: string, name: string, value: string])[] = [
      ["a = b = c", "b", "c []"],
      ["a: int = 1", "a", "1 []"],
      ["a, b = c", "b", "c [1]"],
      ["a, (b, d) = c", "d", "c [1 1]"],
      ["a, b = 1, 2", "b", "2 []"],
      ["a, (b, c) = 1, (2, 3)", "c", "3 []"],
      ["a, b = c, d, e", "b", "(tuple c d e) [1]"],
      ["a, *b, c = d", "c", "d [-1]"],
      ["a, *b, c = d", "b", "- []"],
      ["a, b = *c, d", "b", "(tuple (* c) d) [1]"],
      ["for a in b: pass", "a", "b []"],
      ["for a, b in (1, 2): pass", "b", "(tuple 1 2) [1]"],
      ["with a() as b: pass", "b", "(call a) []"],
      ["(a := b)", "a", "b []"],
      ["a += 1", "a", "- []"],
      ["def f(): pass", "f", "- []"],
    ];
    for (const [source, name, value] of cases) {
      it(`${name} in ${source}`, () => assert.equal(valueOf(source, name), value));
    }

    it("a parameter knows itself", () => {
      const resolved = resolve("def f(a, b=1): b");
      const [binding] = resolved.scopes.lookup(lastName(resolved, "b"));
      assert.equal(binding?.parameter?.name.id, "b");
      assert.equal(binding.target, binding.parameter.name);
    });

    it("imports know their path", () => {
      const source = "import a.b.c, d.e as f\nfrom g.h import i as j\nfrom . import k\nfrom ..l import m";
      const paths = ["a", "f", "j", "k", "m"].map((name) => onlyBinding(source, name).importPath);
      assert.deepEqual(paths, ["a", "d.e", "g.h.i", ".k", "..l.m"]);
    });
  });

  describe("qualified names", () => {
    const cases: readonly (readonly [source: string, path: string | undefined])[] = [
      ["import torch as th\nth.nn.functional.relu", "torch.nn.functional.relu"],
      ["import torch.nn.functional\ntorch.nn.Linear", "torch.nn.Linear"],
      ["import torch.nn as nn\nnn.Linear", "torch.nn.Linear"],
      ["from torch.nn.functional import relu\nrelu", "torch.nn.functional.relu"],
      ["from torch import nn as n\nn.Linear", "torch.nn.Linear"],
      ["from . import models\nmodels.Net", ".models.Net"],
      ["float", "builtins.float"],
      ["def f():\n  float", "builtins.float"],
      ["float = 1\nfloat", undefined],
      ["def float(): pass\nfloat", undefined],
      ["unknown.name", undefined],
      ["a = 1\na.b", undefined],
      ["import a\na().b", undefined],
      ["import torch\ndef f(torch):\n  torch.nn", undefined],
      ["import torch\ntorch = other\ntorch.nn", undefined],
      ["try:\n  import a as b\nexcept ImportError:\n  import c as b\nb.d", "a.d"],
      ["try:\n  import a\nexcept ImportError:\n  a = None\na.d", "a.d"],
      ["if x:\n  from a import b\nelse:\n  def b(): pass\nb", undefined],
      ["import a.b\nimport a.c\na.c.d", "a.c.d"],
    ];
    for (const [source, path] of cases) {
      it(source.replaceAll("\n", "⏎"), () => assert.equal(qualified(source), path));
    }

    it("go through star imports that are known to provide the name", () => {
      const known = { "torch.optim": ["SGD"], other: ["SGD"] };
      assert.equal(qualified("from torch.optim import *\nSGD", known), "torch.optim.SGD");
      assert.equal(qualified("from torch.optim import *\nfrom other import *\nSGD", known), "other.SGD");
      assert.equal(qualified("from torch.optim import *\nfloat", known), "builtins.float");
      assert.equal(qualified("from torch.optim import *\nUnknown", known), undefined);
      assert.equal(qualified("from torch.optim import *\nSGD = 1\nSGD", known), undefined);
    });
  });

  describe("references", () => {
    function references(source: string, id: string, pick: (resolved: Resolved) => Scope): number[] {
      const resolved = resolve(source);
      return resolved.scopes.referencesTo(pick(resolved), id).map(({ start }) => start);
    }

    it("are the reads that see the binding, in source order", () => {
      const source = "a = 1\nb = a\ndef f():\n  a\ndef g(a):\n  a\na.c = a\na += 1\ndel a";
      const wanted = [10, 23, 39, 45, 47];
      assert.deepEqual(
        references(source, "a", ({ scopes }) => scopes.module),
        wanted,
      );
    });

    it("of a parameter stay in its function", () => {
      const source = "def g(a):\n  return a + (lambda: a)()\na";
      assert.deepEqual(
        references(source, "a", ({ module, scopes }) => {
          const [definition] = module.body;
          if (definition?.kind !== "FunctionDefinition") assert.fail();
          return scopes.scopeFor(definition);
        }),
        [19, 32],
      );
    });

    it("leave out attributes and the names of keyword arguments", () => {
      assert.deepEqual(
        references("a = 1\nb.a\nf(a=2)\nglobal a", "a", ({ scopes }) => scopes.module),
        [],
      );
    });
  });
});
