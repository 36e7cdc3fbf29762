import assert from "node:assert/strict";
import {
  foldConstant,
  foldInteger,
  foldNumber,
  type ConstantValue,
} from "../../../server/src/python/constant";
import { parseModule } from "../../../server/src/python/parse";
import { buildScopes, type Scopes } from "../../../server/src/python/scope";
import type { Expression } from "../../../server/src/python/tree";
import { loadParser } from "../../support/parser";

/** The last statement's expression and the names it can see. */
function lastExpression(source: string): { expression: Expression; scopes: Scopes } {
  const parsed = parseModule(source);
  const { module } = parsed;
  const last = module.body.at(-1);
  if (last?.kind !== "ExpressionStatement") assert.fail("no expression at the end");
  return { expression: last.expression, scopes: buildScopes(module) };
}

/** A constant as Python would print it; `?` for none. */
function print(value: ConstantValue | undefined): string {
  switch (value?.kind) {
    case undefined:
      return "?";
    case "integer":
      return String(value.value);
    case "float":
      return Number.isInteger(value.value) ? `${value.value}.0` : String(value.value);
    case "string":
      return `'${value.value}'`;
    case "boolean":
      return value.value ? "True" : "False";
    case "none":
      return "None";
    case "tuple":
      return `(${value.elements.map(print).join(", ")})`;
    case "list":
      return `[${value.elements.map(print).join(", ")}]`;
    case "dict":
      return `{${value.entries.map((entry) => `${print(entry.key)}: ${print(entry.value)}`).join(", ")}}`;
  }
}

function folded(source: string): string {
  const { expression, scopes } = lastExpression(source);
  return print(foldConstant(expression, scopes));
}

function suite(name: string, cases: readonly (readonly [source: string, value: string])[]): void {
  describe(name, () => {
    for (const [source, value] of cases) {
      it(source.replaceAll("\n", "⏎"), () => assert.equal(folded(source), value));
    }
  });
}

describe("constants", () => {
  before(loadParser);

  suite("literals", [
    ["1", "1"],
    ["1.0", "1.0"],
    ["'a' 'b'", "'ab'"],
    ["None", "None"],
    ["(True, [1, 2.5])", "(True, [1, 2.5])"],
    ["{'a': 1, **{'a': 2, 'b': 3}}", "{'a': 2, 'b': 3}"],
    ["[1, *(2, 3)]", "[1, 2, 3]"],
    ["f'a{1}{\"b\"}'", "'a1b'"],
    ["f'{1.5}'", "?"],
    ["f'{1:3}'", "?"],
    ["b'a'", "?"],
    ["3j", "?"],
    ["...", "?"],
    ["99999999999999999999", "?"],
  ]);

  suite("arithmetic", [
    ["2 + 3 * 4", "14"],
    ["2 + 3.0", "5.0"],
    ["7 / 2", "3.5"],
    ["6 / 2", "3.0"],
    ["-7 // 2", "-4"],
    ["7 // -2", "-4"],
    ["7.5 // 2", "3.0"],
    ["1.0 // 0.1", "9.0"],
    ["-7 % 3", "2"],
    ["7 % -3", "-2"],
    ["-0.5 % 3", "2.5"],
    ["2 ** 10", "1024"],
    ["2 ** -1", "0.5"],
    ["2 ** 60", "?"],
    ["3 ** 33", "5559060566555523"],
    ["0 ** 0", "1"],
    ["(-8) ** 0.5", "?"],
    ["1 << 20", "1048576"],
    ["-5 >> 1", "-3"],
    ["6 & 3 | 8 ^ 1", "11"],
    ["4294967296 | 1", "4294967297"],
    ["~5", "-6"],
    ["-True", "-1"],
    ["not 0", "True"],
    ["1 / 0", "?"],
    ["1 % 0", "?"],
    ["9007199254740991 + 1", "?"],
    ["'a' + 'b' * 2", "'abb'"],
    ["(1,) + (2,) * 2", "(1, 2, 2)"],
    ["[0] * 3", "[0, 0, 0]"],
    ["[0] * 1000000", "?"],
    ["'a' + 1", "?"],
    ["x + 1", "?"],
  ]);

  suite("comparisons and conditions", [
    ["1 < 2 <= 2.0 != 3", "True"],
    ["1 < 2 < 2", "False"],
    ["1 == 1.0", "True"],
    ["1 == '1'", "False"],
    ["'a' < 'b'", "True"],
    ["1 < 'a'", "?"],
    ["None is None", "True"],
    ["1 is 1", "?"],
    ["2 in (1, 2)", "True"],
    ["'a' not in {'a': 1}", "False"],
    ["1 if 2 > 1 else x", "1"],
    ["0 or 'a'", "'a'"],
    ["1 and 0 and x", "0"],
    ["x or 1", "?"],
  ]);

  suite("names", [
    ["a = 2\nb = a * 3\nb + 1", "7"],
    ["a: int = 2\na", "2"],
    ["a: int\na = 2\na", "2"],
    ["a, (b, c) = 1, (2, 3)\nc", "3"],
    ["d = (1, (2, 3))\na, (b, c) = d\nc", "3"],
    ["a = 1\na = 2\na", "?"],
    ["a = 1\na += 1\na", "?"],
    ["a = 1\nif x:\n  a = 2\na", "?"],
    ["a = 1\nfor a in b: pass\na", "?"],
    ["a = 1\ndef f():\n  global a\n  a = 2\na", "?"],
    ["a = 1\ndef f():\n  a = 2\na", "1"],
    ["a = a + 1\na", "?"],
    ["a = b\nb = a\na", "?"],
    ["a = f()\na", "?"],
    ["for a in (1, 2): pass\na", "?"],
    ["a = 1\nfrom x import *\na", "?"],
    ["from x import *\na = 1\na", "1"],
  ]);

  suite("what may change", [
    ["a = [1, 2]\na[1]", "2"],
    ["a = [1, 2]\nlen(a)", "2"],
    ["a = {'b': {'c': 3}}\na['b']['c']", "3"],
    ["a = [1]\na.append(2)\na[0]", "?"],
    ["a = [1]\na[0] = 2\na[0]", "?"],
    ["a = [1]\ndel a[0]\na[0]", "?"],
    ["a = [[1]]\na[0][0] = 2\na[0][0]", "?"],
    ["a = [[1]]\na[0].append(2)\na[0][0]", "?"],
    ["a = [1]\nb = a\na[0]", "?"],
    ["a = [1]\nf(a)\na[0]", "?"],
    ["a = {'b': 1}\nf(**a)\na['b']", "1"],
    ["a = [1]\nfor a[0] in b: pass\na[0]", "?"],
  ]);

  suite("subscripts and builtins", [
    ["(1, 2, 3)[-1]", "3"],
    ["(1,)[5]", "?"],
    ["{'a': 1}['b']", "?"],
    ["'é😀'[1]", "'😀'"],
    ["(1, 2)[0:1]", "?"],
    ["int(7.9) + int(-7.9)", "0"],
    ["int('12')", "12"],
    ["float(1)", "1.0"],
    ["len('é😀')", "2"],
    ["min(3, 1, 2), max([3, 1])", "(1, 3)"],
    ["max(1, 'a')", "?"],
    ["abs(-2)", "2"],
    ["tuple([1, 2])", "(1, 2)"],
    ["round(2.5)", "?"],
    ["def len(x): pass\nlen((1,))", "?"],
  ]);

  suite("class attributes", [
    ["class A:\n  b = 2\nA.b", "2"],
    ["class A:\n  b = 2\n  c = b * 2\nA.c", "4"],
    ["class A:\n  b = 2\nA.b = 3\nA.b", "?"],
    ["class A:\n  b = 2\nx.b += 1\nA.b", "?"],
    ["class A:\n  b = 2\nsetattr(A, 'b', 3)\nA.b", "?"],
    ["class A:\n  b = 2\nA = f()\nA.b", "?"],
    ["class A: pass\nA.b", "?"],
  ]);

  it("come as numbers", () => {
    const { expression, scopes } = lastExpression("2 * 3");
    assert.equal(foldInteger(expression, scopes), 6);
    const half = lastExpression("1 / 2");
    assert.equal(foldInteger(half.expression, half.scopes), undefined);
    assert.equal(foldNumber(half.expression, half.scopes), 0.5);
    const truth = lastExpression("True");
    assert.equal(foldNumber(truth.expression, truth.scopes), undefined);
  });

  it("take no longer for names that use names twice", () => {
    const lines = ["a0 = 1"];
    for (let index = 1; index <= 60; index++) lines.push(`a${index} = a${index - 1} + a${index - 1} - 1`);
    assert.equal(folded([...lines, "a60"].join("\n")), "1");
  });
});
