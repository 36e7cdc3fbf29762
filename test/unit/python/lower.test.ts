import assert from "node:assert/strict";
import { parseModule } from "../../../server/src/python/parse";
import { loadParser } from "../../support/parser";
import { printTree } from "../../support/print-tree";

/** Source and the tree expected of it, as `printTree` shows it. */
type Case = readonly [source: string, tree: string];

function treeOf(source: string): string {
  const parsed = parseModule(source);
  return printTree(parsed.module);
}

function suite(name: string, cases: readonly Case[]): void {
  describe(name, () => {
    for (const [source, tree] of cases) {
      it(source.replaceAll("\n", "⏎"), () => assert.equal(treeOf(source), tree));
    }
  });
}

describe("lowering", () => {
  before(loadParser);

  suite("assignments", [
    ["a = b = c", "(= a b c)"],
    ["a, b = 1, 2", "(= (tuple a b) (tuple 1 2))"],
    ["a, = b", "(= (tuple a) b)"],
    ["(a) = 1", "(= a 1)"],
    ["(a, b) = [c, d] = e", "(= (tuple a b) (list c d) e)"],
    ["a, *b = c", "(= (tuple a (* b)) c)"],
    ["a.b[c] = d", "(= ([] (. a b) c) d)"],
    ["x = yield", "(= x (yield))"],
    ["a: int", "(:=: a int)"],
    ["a.b: 'T' = 1", '(:=: (. a b) "T" 1)'],
    ["a: list[int] | None = None", "(:=: a (| ([] list int) None) None)"],
    ["a += 1", "(+= a 1)"],
    ["a @= b; a //= c; a >>= d; a **= e", "(@= a b)\n(//= a c)\n(>>= a d)\n(**= a e)"],
    ["print = 3", "(= print 3)"],
    ["match = type = case = _ = 1", "(= match type case _ 1)"],
    ["type(self).count = 1", "(= (. (call type self) count) 1)"],
    ["type(a, b)[0].c = 1", "(= (. ([] (call type a b) 0) c) 1)"],
  ]);

  suite("simple statements", [
    ["pass\nbreak\ncontinue", "(pass)\n(break)\n(continue)"],
    ["return", "(return)"],
    ["return a, *b", "(return (tuple a (* b)))"],
    ["del a", "(del a)"],
    ["del a, b.c, d[0]", "(del a (. b c) ([] d 0))"],
    ["del (a, b)", "(del (tuple a b))"],
    ["raise", "(raise)"],
    ["raise A", "(raise A)"],
    ["raise A() from b", "(raise (call A) from b)"],
    ["assert a", "(assert a)"],
    ["assert a, 'text'", '(assert a "text")'],
    ["global a, b\nnonlocal c", "(global a b)\n(nonlocal c)"],
    ["a;b; c;", "a\nb\nc"],
    ["a,", "(tuple a)"],
    ["type X = int | str", "(type X (| int str))"],
    ["type X[T, *Ts, **P] = dict[T, P]", "(type X <T Ts P> ([] dict (tuple T P)))"],
    ["await a", "(await a)"],
    ["yield from a", "(yield-from a)"],
  ]);

  suite("imports", [
    ["import a", "(import a)"],
    ["import a.b.c, d as e, f.g as h", "(import a.b.c d->e f.g->h)"],
    ["import a . b", "(import a.b)"],
    ["from a import b, c as d", "(from a b c->d)"],
    ["from a.b import (c,\n  d, # why\n)", "(from a.b c d)"],
    ["from a import *", "(from a *)"],
    ["from . import a", "(from . a)"],
    ["from ... import a", "(from ... a)"],
    ["from .. a.b import c", "(from ..a.b c)"],
    ["from __future__ import annotations, division", "(from __future__ annotations division)"],
    ["from __future__ import (annotations as a)", "(from __future__ annotations->a)"],
  ]);

  suite("compound statements", [
    ["if a: b", "(if a [b])"],
    [
      "if a:\n  b\nelif c:\n  d\nelif e: f\nelse:\n  g",
      "(if a [b] else [(if c [d] else [(if e [f] else [g])])])",
    ],
    ["for a in b:\n  c\nelse:\n  d", "(for a b [c] else [d])"],
    ["for a, (b, *c) in d, e: pass", "(for (tuple a (tuple b (* c))) (tuple d e) [(pass)])"],
    ["for (a) in b: pass", "(for a b [(pass)])"],
    ["async for a in b: pass", "(async-for a b [(pass)])"],
    ["while a:\n  b\nelse:\n  c", "(while a [b] else [c])"],
    ["while (a := b()): pass", "(while (:= a (call b)) [(pass)])"],
    ["with a: pass", "(with a [(pass)])"],
    ["with a as b, c() as d.e: pass", "(with (as a b) (as (call c) (. d e)) [(pass)])"],
    ["with a as (b, c): pass", "(with (as a (tuple b c)) [(pass)])"],
    ["with (a as b): pass", "(with (as a b) [(pass)])"],
    ["with (a as b, c,): pass", "(with (as a b) c [(pass)])"],
    ["with (a, b): pass", "(with a b [(pass)])"],
    ["with (a, b) as c: pass", "(with (as (tuple a b) c) [(pass)])"],
    ["with (a): pass", "(with a [(pass)])"],
    ["with (yield a): pass", "(with (yield a) [(pass)])"],
    ["async with a as b: pass", "(async-with (as a b) [(pass)])"],
    [
      "try:\n  a\nexcept B:\n  c\nexcept (D, E) as f:\n  g\nexcept:\n  h\nelse:\n  i\nfinally:\n  j",
      "(try [a] (except B [c]) (except (tuple D E) as f [g]) (except [h]) else [i] finally [j])",
    ],
    ["try: a\nexcept* B as c: d\nexcept *E: f", "(try [a] (except* B as c [d]) (except* E [f]))"],
    ["try: a\nexcept A, B: c", "(try [a] (except (tuple A B) [c]))"],
    ["try: a\nfinally: b", "(try [a] finally [b])"],
  ]);

  suite("definitions", [
    ["def f(): pass", "(def f () [(pass)])"],
    ["async def f(a) -> b: return c", "(async-def f (a) -> b [(return c)])"],
    [
      "def f(a, /, b: int, c=1, *d: int, e, f: str = '', **g: object): pass",
      '(def f (/a b:int c=1 *d:int !e !f:str="" **g:object) [(pass)])',
    ],
    ["def f(a, *, b=c): pass", "(def f (a !b=c) [(pass)])"],
    ["def f(*args: *Ts): pass", "(def f (*args:(* Ts)) [(pass)])"],
    ["def f[T: int, *Ts, **P](a: T) -> P: pass", "(def f <T Ts P> (a:T) -> P [(pass)])"],
    ["def f[T = int](a): pass", "(def f <T> (a) [(pass)])"],
    [
      "class A[T: (int, str) = int, *Ts = *tuple[int, str], **P = [int]](B): pass",
      "(class A <T Ts P> (B) [(pass)])",
    ],
    ["type X[T = int] = list[T]", "(type X <T> ([] list T))"],
    ["@a\n@b.c(d)\ndef f(): pass", "(def @a @(call (. b c) d) f () [(pass)])"],
    ["@(yield)\nclass A: pass", "(class @(yield) A () [(pass)])"],
    ["class A: pass", "(class A () [(pass)])"],
    ["class A(B, *C, metaclass=D, **e): pass", "(class A (B (* C) e metaclass=D) [(pass)])"],
    ["class A[T](B[T]): pass", "(class A <T> (([] B T)) [(pass)])"],
    ["lambda: 0", "(lambda () 0)"],
    ["lambda a, /, b=1, *c, d, **e: f", "(lambda (/a b=1 *c !d **e) f)"],
    ["lambda *, a: (yield)", "(lambda (!a) (yield))"],
  ]);

  suite("match", [
    ["match a:\n  case _: pass", "(match a (case (always) [(pass)]))"],
    ["match a:\n  case b: pass", "(match a (case (always >b) [(pass)]))"],
    ["match a, b:\n  case c, d: pass", "(match (tuple a b) (case (>c >d) [(pass)]))"],
    ["match *a, b:\n  case [c, *d]: pass", "(match (tuple (* a) b) (case (>c >d) [(pass)]))"],
    ["match a:\n  case [_, *_]: pass", "(match a (case () [(pass)]))"],
    ["match a:\n  case 1: pass", "(match a (case (=1) [(pass)]))"],
    ["match a:\n  case -1.5: pass", "(match a (case (=(- 1.5)) [(pass)]))"],
    ["match a:\n  case -1 + 2j: pass", "(match a (case (=complex) [(pass)]))"],
    ["match a:\n  case 'b' 'c': pass", '(match a (case (="bc") [(pass)]))'],
    ["match a:\n  case None | True | 3: pass", "(match a (case (None True 3) [(pass)]))"],
    ["match a:\n  case 1 | _: pass", "(match a (case (always 1) [(pass)]))"],
    ["match a:\n  case B.c.d: pass", "(match a (case (=(. (. B c) d)) [(pass)]))"],
    ["match a:\n  case B(c, d=E.f, g=-1): pass", "(match a (case (>c B (. E f) (- 1)) [(pass)]))"],
    ["match a:\n  case {'b': c, D.e: 1, **f}: pass", '(match a (case (>c >f "b" (. D e) 1) [(pass)]))'],
    ["match a:\n  case (b): pass", "(match a (case (always >b) [(pass)]))"],
    ["match a:\n  case (b,): pass", "(match a (case (>b) [(pass)]))"],
    ["match a:\n  case [b] as c if d: pass", "(match a (case (>b >c) if d [(pass)]))"],
    ["match a:\n  case b as c: pass", "(match a (case (always >b >c) [(pass)]))"],
    ["match(a)\nmatch.b\nmatch[c]", "(call match a)\n(. match b)\n([] match c)"],
  ]);

  suite("literals", [
    ["1_000", "1000"],
    ["0xFf; 0o17; 0b1_1", "255\n15\n3"],
    ["1.5; 1e3; .5; 10.; 1E-1", "1.5\n1000.0\n0.5\n10.0\n0.1"],
    ["3j; 1.5J", "complex\ncomplex"],
    ["True, False, None, ...", "(tuple True False None ...)"],
    ["'a' \"b\" '''c'''", '"abc"'],
    ["('a'\n 'b')", '"ab"'],
    ["b'a' b\"\\xff\"", 'b"aÿ"'],
    ["r'\\n' Rb'x'", '"\\\\nx"'],
    ["'\\x41\\u0042\\U00000043\\104\\n\\\\\\q\\\nz'", '"ABCD\\n\\\\\\\\qz"'],
    ["b'\\u0041'", 'b"\\\\u0041"'],
    ["''", '""'],
    ['""""""', '""'],
    ["'''a\nb'''", '"a\\nb"'],
    ["u'é😀'", '"é😀"'],
  ]);

  suite("f-strings", [
    ["f'a'", '"a"'],
    ["f'{a}'", "(f {a})"],
    ["f'a{b}c{d!r:>{w}.{p}}e'", '(f "a" {b} "c" {d!r:>{w}.{p} {w} {p}} "e")'],
    ["f'{{a}} {b}'", '(f "{a} " {b})'],
    ["f'{a=} {b = }'", '(f "a=" {a!r} " b = " {b!r})'],
    ["f'{a=!s} {b=:x}'", '(f "a=" {a!s} " b=" {b:x})'],
    ["f'{a, b} {*c, d}'", '(f {(tuple a b)} " " {(tuple (* c) d)})'],
    ["f'{f\"{a}\"}'", "(f {(f {a})})"],
    ["f'{a['b']}'", '(f {([] a "b")})'],
    ["f'{(lambda x: x)}{yield}'", "(f {(lambda (x) x)} {(yield)})"],
    ["rf'\\d{a}' 'b'", '(f "\\\\d" {a} "b")'],
    ["f'''{\n a # why\n}'''", "(f {a})"],
    ["t'a {b}'", '(f "a " {b})'],
  ]);

  suite("operators", [
    ["a + b * c - d", "(- (+ a (* b c)) d)"],
    ["(a + b) * c", "(* (+ a b) c)"],
    ["a ** b ** c", "(** a (** b c))"],
    ["-a ** b", "(- (** a b))"],
    ["a @ b // c % d << e >> f", "(>> (<< (% (// (@ a b) c) d) e) f)"],
    ["a | b ^ c & d", "(| a (^ b (& c d)))"],
    ["a & b ^ c", "(^ (& a b) c)"],
    ["a ^ b & c ^ d", "(^ (^ a (& b c)) d)"],
    ["(a ^ b) & c", "(& (^ a b) c)"],
    ["a & (b ^ c)", "(& a (^ b c))"],
    ["~a; +b; not c", "(~ a)\n(+ b)\n(not c)"],
    ["await a ** b", "(** (await a) b)"],
    ["await (a ** b)", "(await (** a b))"],
    ["a and b and c", "(and a b c)"],
    ["a and b or c and d or e", "(or (and a b) (and c d) e)"],
    ["(a and b) and c", "(and (and a b) c)"],
    ["a and (b and c)", "(and a (and b c))"],
    ["not a and b", "(and (not a) b)"],
    ["a < b <= c == d != e > f >= g", "(compare a < b <= c == d != e > f >= g)"],
    ["a is b is not c in d not in e", "(compare a is b is not c in d not in e)"],
    ["not a in b", "(not (compare a in b))"],
    ["(a < b) < c", "(compare (compare a < b) < c)"],
    ["a if b else c if d else e", "(if-else b a (if-else d c e))"],
    ["(a := 1) + 2", "(+ (:= a 1) 2)"],
    ["x: a | b | c", "(:=: x (| (| a b) c))"],
    ["x: a[int] | b | None", "(:=: x (| (| ([] a int) b) None))"],
  ]);

  suite("calls, attributes, subscripts", [
    ["a.b.c(d)[e]", "([] (call (. (. a b) c) d) e)"],
    ["a(b, *c, d=1, **e, f=2)", "(call a b (* c) d=1 f=2 **e)"],
    ["a(b for b in c)", "(call a (generator-comp b (for b c)))"],
    ["a((yield))", "(call a (yield))"],
    ["a(print=1, match=2)", "(call a print=1 match=2)"],
    ["a[1:2]; a[:]; a[::3]; a[b:]", "([] a (: 1 2))\n([] a (: _ _))\n([] a (: _ _ 3))\n([] a (: b _))"],
    ["a[1, 2:, ...]", "([] a (tuple 1 (: 2 _) ...))"],
    ["a[b,]", "([] a (tuple b))"],
    ["a[(b, c)]", "([] a (tuple b c))"],
    ["a[*b]", "([] a (tuple (* b)))"],
    ["[*a.b(c)]", "(list (* (call (. a b) c)))"],
    ["[*a or b, *c[0]]", "(list (* (or a b)) (* ([] c 0)))"],
    ["print(*a, sep='')", '(call print (* a) sep="")'],
    ["(\n a\n .b()  # why\n .c()\n)", "(call (. (call (. a b)) c))"],
  ]);

  suite("displays and comprehensions", [
    ["()", "(tuple)"],
    ["(a,)", "(tuple a)"],
    ["((a))", "a"],
    ["[]", "(list)"],
    ["[a, *b]", "(list a (* b))"],
    ["{a}", "(set a)"],
    ["{*a, b}", "(set (* a) b)"],
    ["{}", "(dict)"],
    ["{a: b, **c, 'd': e,}", '(dict a:b **c "d":e)'],
    ["[a for a in b if c if d for e in f]", "(list-comp a (for a b (if c) (if d)) (for e f))"],
    ["{a async for a in b}", "(set-comp a (async-for a b))"],
    ["{a: b for a, b in c}", "(dict-comp a:b (for (tuple a b) c))"],
    ["(a for a in b)", "(generator-comp a (for a b))"],
    ["[a := 1, a]", "(list (:= a 1) a)"],
  ]);

  suite("what is not Python 3", [
    ["print 'a'", '(INVALID "a")'],
    ["print >>a, b", "(INVALID a b)"],
    ["exec 'a' in b", '(INVALID "a" b)'],
    ["raise A, 'b'", '(INVALID (tuple A "b"))'],
    ["10L", "(INVALID)"],
    ["a <> b", "(INVALID a b)"],
    ["[a for a in 1, 2]", "(INVALID a a 1 2)"],
  ]);

  it("gives Python 2 tuple parameters up with their function", () => {
    assert.match(treeOf("def f((a, b)): c"), /^\(INVALID f .*c.*\)$/);
  });
});
