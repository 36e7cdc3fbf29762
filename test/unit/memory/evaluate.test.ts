import assert from "node:assert/strict";
import { analyze } from "../../../server/src/analysis";
import { representation } from "../../../server/src/memory/evaluate/format";
import { Program } from "../../../server/src/memory/evaluate/program";
import { Execution } from "../../../server/src/memory/tape";
import { isUnknown } from "../../../server/src/memory/unknown";
import { render } from "../../../server/src/messages/message";
import { parseModule } from "../../../server/src/python/parse";
import { loadParser } from "../../support/parser";

function programOf(text: string): Program {
  return new Program(new Execution({ device: "cuda" }), parseModule(text).module);
}

/** What Python's `repr(result)` gives after the text ran; "unknown: …" when it is not known. */
function resultOf(text: string): string {
  const program = programOf(text);
  const value = program.global("result");
  assert.notEqual(value, undefined, `no result in\n${text}`);
  const written = representation(program.interpreter, value ?? null);
  return isUnknown(written) ? `unknown: ${render(written.reason, "en")}` : written;
}

/** Texts by what Python 3.12 prints for `result`. */
function check(cases: readonly (readonly [text: string, expected: string])[]): void {
  for (const [text, expected] of cases) assert.equal(resultOf(text), expected, text);
}

describe("the evaluator", () => {
  before(loadParser);

  it("keeps int and float apart", () => {
    check([
      [
        "result = (7 / 2, 7 // 2, -7 // 2, 7 % 3, -7 % 3, 7.0 // 2, 2 ** 10, 2 ** -1, -2 ** 2)",
        "(3.5, 3, -4, 1, 2, 3.0, 1024, 0.5, -4)",
      ],
      [
        "result = (6 / 2, int(7.9), int(-7.9), float(3), 1e-5, 1e16, 10 ** 15)",
        "(3.0, 7, -7, 3.0, 1e-05, 1e+16, 1000000000000000)",
      ],
      [
        "result = (round(2.5), round(3.5), round(-0.5), round(2.675, 2), round(1234, -2), round(0.125, 2))",
        "(2, 4, 0, 2.67, 1200, 0.12)",
      ],
      [
        "result = (True + 1, True & False, 5 & 3, 5 | 3, 5 ^ 3, 1 << 4, ~5, not 0)",
        "(2, False, 1, 7, 6, 16, -6, True)",
      ],
      [
        "result = divmod(-7, 2) + (abs(-3), abs(-2.5), max(1, 2.5), min([3, 1]), sum([1, 2.5]), pow(2, 3))",
        "(-4, 1, 3, 2.5, 2.5, 1, 3.5, 8)",
      ],
      [
        "result = (int('12'), float('1e3'), float('inf'), str(1.0), bool([]), 1 < 2 < 3, 1 == 1.0, 3 in (1, 3))",
        "(12, 1000.0, inf, '1.0', False, True, True, True)",
      ],
    ]);
  });

  it("keeps what is set on a tensor", () => {
    check([
      [
        "import torch\nw = torch.nn.Parameter(torch.ones(2))\nw.is_norm, w.scale = True, 0.5\n" +
          "result = (w.is_norm, w.scale, hasattr(w, 'other'), getattr(w, 'other', 3))",
        "(True, 0.5, False, 3)",
      ],
      ["import torch\nw = torch.ones(2)\nsetattr(w, 'tag', 'a')\nw.tag = 'b'\nresult = w.tag", "'b'"],
    ]);
  });

  it("follows arrays of numpy in double precision", () => {
    const cases: readonly (readonly [text: string, expected: string])[] = [
      ["tuple(np.array([16, 16]) // 2)", "(8, 8)"],
      ["(np.arange(4) / 4).dtype", "torch.float64"],
      ["np.stack([np.arange(3), np.arange(3)]).shape", "torch.Size([2, 3])"],
      ["np.array([np.arange(3) ** i for i in range(2)]).shape", "torch.Size([2, 3])"],
      ["torch.from_numpy(np.arange(3) / 2).dtype", "torch.float64"],
      ["torch.tensor(np.log(np.arange(1, 3)), dtype=torch.float32).dtype", "torch.float32"],
      ["torch.tensor([1, 2.0]).dtype", "torch.float32"],
      ["torch.ones(2, dtype=bool).dtype", "torch.bool"],
      ["torch.zeros(2, dtype=float).dtype", "torch.float64"],
    ];
    check(cases.map(([text, expected]) => [`import numpy as np, torch\nresult = ${text}`, expected]));
  });

  it("makes arrays of numpy in the size and type that numpy makes", () => {
    const cases: readonly (readonly [text: string, shape: string, dtype: string])[] = [
      ["np.zeros(5, dtype=bool)", "[5]", "torch.bool"],
      ["np.zeros([4], dtype='float32')", "[4]", "torch.float32"],
      ["np.ones((2, 3), int)", "[2, 3]", "torch.int64"],
      ["np.full((2, 3), 7)", "[2, 3]", "torch.int64"],
      ["np.full(4, 0.5)", "[4]", "torch.float64"],
      ["np.full(4, True)", "[4]", "torch.bool"],
      ["np.full((2,), 1, dtype=np.float32)", "[2]", "torch.float32"],
      ["np.linspace(0, 1, 10, dtype=np.float32)", "[10]", "torch.float32"],
      ["np.linspace(start=0, stop=1, num=5)", "[5]", "torch.float64"],
      ["np.random.permutation(10)", "[10]", "torch.int64"],
      ["np.random.permutation(np.zeros((3, 2)))", "[3, 2]", "torch.float64"],
      ["np.tile(np.zeros((2, 3)), (2, 1))", "[4, 3]", "torch.float64"],
      ["np.zeros(3).astype('float32')", "[3]", "torch.float32"],
      ["np.zeros(3).astype(int)", "[3]", "torch.int64"],
      ["np.zeros_like(np.zeros(3), dtype='int32')", "[3]", "torch.int32"],
    ];
    check(
      cases.map(([text, shape, dtype]) => [
        `import numpy as np, torch\na = torch.from_numpy(${text})\nresult = (list(a.shape), a.dtype)`,
        `(${shape}, ${dtype})`,
      ]),
    );
  });

  it("formats strings", () => {
    check([
      [
        "n = 3\nx = 0.5\nresult = f'{n:02d}-{x:.2f}-{n!r}-{\"a\":>3}-{1234567:,}-{x:%}'",
        "'03-0.50-3-  a-1,234,567-50.000000%'",
      ],
      ["result = 'layer%d_%s %.1e %5.2f%%' % (3, 'a', 0.00012, 2.5)", "'layer3_a 1.2e-04  2.50%'"],
      ["result = '{} {0}'.replace('0', '1') + '{a}-{b:>3}'.format(a=1, b='x')", "'{} {1}1-  x'"],
      [
        "result = 'a,b,,c'.split(',') + 'x y'.split() + ['-'.join(['p', 'q'])]",
        "['a', 'b', '', 'c', 'x', 'y', 'p-q']",
      ],
      [
        "s = 'Conv2d_3'\nresult = (s.lower(), s[-1], s[:4], s.startswith(('C', 'x')), s.find('v'), s.rsplit('_', 1), s.isdigit())",
        "('conv2d_3', '3', 'Conv', True, 3, ['Conv2d', '3'], False)",
      ],
      [
        "result = ('a' 'b' * 2, 'x'.upper(), ' a '.strip(), 'a.b.c'.split('.', 1), 'abc'[::-1])",
        "('abab', 'X', 'a', ['a', 'b.c'], 'cba')",
      ],
    ]);
  });

  it("evaluates the elements of a generator when they are asked for", () => {
    check([
      ["y = [1, 2]\ny.extend(y[-1] * 2 for _ in range(3))\nresult = y", "[1, 2, 4, 8, 16]"],
      [
        "from collections import deque\nd = deque(maxlen=3)\nfor i in range(5):\n    d.append(i)\nd.appendleft(9)\nresult = (list(d), len(d))",
        "([9, 2, 3], 3)",
      ],
      [
        "from collections import deque\nd = deque(range(5), 2)\nd.extendleft([7])\nresult = list(d)",
        "[7, 3]",
      ],
      ["g = (i * i for i in [1, 2, 3])\nresult = (next(g), list(g), list(g))", "(1, [4, 9], [])"],
      [
        "def make(k):\n    return (k + i for i in range(2))\nk = 5\nresult = tuple(make(10)) + tuple(i for i in (1, 2) if i > 1)",
        "(10, 11, 2)",
      ],
    ]);
  });

  it("has lists, tuples, dicts, sets, slices and their methods", () => {
    check([
      [
        "a = [1, 2, 3]\nb = a\nb += [4]\na.insert(0, 0)\na.pop()\nresult = (a, a[-2:], a[::2], a.index(2), 5 in a)",
        "([0, 1, 2, 3], [2, 3], [0, 2], 2, False)",
      ],
      ["a = list(range(10))\na[2:5] = [9]\ndel a[0]\nresult = a", "[1, 9, 5, 6, 7, 8, 9]"],
      [
        "d = {'a': 1, **{'b': 2}}\nd['c'] = 3\nd.setdefault('a', 9)\nresult = (d.pop('b'), d, d.get('z'), d.get('z', 0), list(d.items()))",
        "(2, {'a': 1, 'c': 3}, None, 0, [('a', 1), ('c', 3)])",
      ],
      [
        "d = {'a': 1} | {'a': 2, 'b': 3}\nresult = [*d, *d.values(), len(d), 'a' in d]",
        "['a', 'b', 2, 3, 2, True]",
      ],
      [
        "result = (sorted({3, 1, 2}), {1, 2} & {2, 3}, set([1]) | {2}, len({1, 1}))",
        "([1, 2, 3], {2}, {1, 2}, 1)",
      ],
      [
        "a, *b, c = range(5)\n(d, e), f = (1, 2), 3\nresult = (a, b, c, d, e, f)",
        "(0, [1, 2, 3], 4, 1, 2, 3)",
      ],
      [
        "result = sorted([(2, 'b'), (1, 'z'), (2, 'a')], key=lambda p: p[0], reverse=True)",
        "[(2, 'b'), (2, 'a'), (1, 'z')]",
      ],
      [
        "result = ([[0] * 2 for _ in range(2)], (1, 2) + (3,), (1,) * 2, [1, 2] == [1, 2], (1, 2) < (1, 3))",
        "([[0, 0], [0, 0]], (1, 2, 3), (1, 1), True, True)",
      ],
    ]);
  });

  it("runs comprehensions, generators and itertools", () => {
    check([
      ["result = [i * j for i in range(3) for j in range(3) if i < j]", "[0, 0, 2]"],
      ["result = {k: v for k, v in zip('ab', (1, 2))}", "{'a': 1, 'b': 2}"],
      ["x = 5\ny = [x for x in range(3)]\nresult = (x, y, {c for c in 'aa'})", "(5, [0, 1, 2], {'a'})"],
      [
        "def g(n):\n    for i in range(n):\n        yield i\n    yield from [7, 8]\nresult = list(g(2))",
        "[0, 1, 7, 8]",
      ],
      [
        "import itertools as it\nresult = (list(it.chain([1], (2,))), list(it.product([0, 1], repeat=2)), list(it.islice(it.count(3), 2)), [p for p in it.pairwise('abc')])",
        "([1, 2], [(0, 0), (0, 1), (1, 0), (1, 1)], [3, 4], [('a', 'b'), ('b', 'c')])",
      ],
      [
        "from itertools import accumulate, repeat\nresult = (list(accumulate([1, 2, 3])), list(zip(repeat(1), 'ab')), next(iter([5])), list(map(lambda a, b: a + b, [1, 2], [3, 4])))",
        "([1, 3, 6], [(1, 'a'), (1, 'b')], 5, [4, 6])",
      ],
      [
        "result = (list(enumerate('ab', 1)), list(reversed([1, 2])), list(filter(None, [0, 1])), any(i > 1 for i in range(3)), all([]))",
        "([(1, 'a'), (2, 'b')], [2, 1], [1], True, True)",
      ],
    ]);
  });

  it("follows control flow", () => {
    check([
      [
        "result = []\nfor i in range(10):\n    if i % 2: continue\n    if i > 6: break\n    result.append(i)\nelse:\n    result = None",
        "[0, 2, 4, 6]",
      ],
      ["n = 1\nwhile n < 100:\n    n *= 3\nelse:\n    n += 1\nresult = n", "244"],
      [
        "def f(x):\n    match x:\n        case 1: return 'one'\n        case 'a': return 'letter'\n        case other: return other\nresult = (f(1), f('a'), f(2))",
        "('one', 'letter', 2)",
      ],
      [
        "try:\n    x = [][0]\nexcept (KeyError, IndexError) as e:\n    x = 'caught'\nfinally:\n    y = 1\nresult = (x, y)",
        "('caught', 1)",
      ],
      [
        "try:\n    import flash_attn_nobody_has\n    has = True\nexcept ImportError:\n    has = False\nresult = has",
        "False",
      ],
      ["result = (n := 3) + n", "6"],
      [
        "def f():\n    try:\n        raise ValueError('x')\n    except ValueError:\n        return 1\n    finally:\n        pass\nresult = f()",
        "1",
      ],
    ]);
  });

  it("binds arguments as Python does", () => {
    check([
      [
        "def f(a, b=2, *args, c, d=4, **kw):\n    return (a, b, args, c, d, kw)\nresult = f(1, c=3, e=5)",
        "(1, 2, (), 3, 4, {'e': 5})",
      ],
      [
        "def f(*args, **kw): return (args, kw)\nresult = f(*[1, 2], 3, **{'x': 1}, y=2)",
        "((1, 2, 3), {'x': 1, 'y': 2})",
      ],
      ["def f(x, acc=[]):\n    acc.append(x)\n    return acc\nf(1)\nresult = f(2)", "[1, 2]"],
      [
        "from functools import partial, reduce\nadd = lambda a, b, c=0: a + b + c\nresult = (partial(add, 1, c=5)(2), reduce(lambda a, b: a * b, [2, 3, 4]))",
        "(8, 24)",
      ],
      [
        "def outer():\n    n = 0\n    def inner():\n        nonlocal n\n        n += 1\n        return n\n    return inner\nf = outer()\nf()\nresult = f()",
        "2",
      ],
      ["fs = [lambda i=i: i for i in range(3)]\nresult = [f() for f in fs]", "[0, 1, 2]"],
      [
        "import functools\n@functools.lru_cache(maxsize=None)\ndef fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\nresult = fib(10)",
        "55",
      ],
      [
        "def deco(f):\n    import functools\n    @functools.wraps(f)\n    def w(*a): return f(*a) + 1\n    return w\n@deco\ndef g(x): return x * 2\nresult = g(3)",
        "7",
      ],
    ]);
  });

  it("has classes, inheritance, super and properties", () => {
    check([
      [
        "class A:\n    n = 1\n    def __init__(self, x): self.x = x\n    def f(self): return 'A'\nclass B(A):\n    def __init__(self, x):\n        super().__init__(x + 1)\n    def f(self): return 'B' + super().f()\nb = B(1)\nresult = (b.x, b.n, b.f(), isinstance(b, A), type(b).__name__, issubclass(B, A))",
        "(2, 1, 'BA', True, 'B', True)",
      ],
      [
        "class A:\n    def f(self): return ['A']\nclass B(A):\n    def f(self): return ['B'] + super().f()\nclass C(A):\n    def f(self): return ['C'] + super().f()\nclass D(B, C):\n    def f(self): return ['D'] + super().f()\nresult = D().f()",
        "['D', 'B', 'C', 'A']",
      ],
      [
        "class A:\n    @property\n    def p(self): return self._p\n    @p.setter\n    def p(self, v): self._p = v * 2\n    @staticmethod\n    def s(x): return x\n    @classmethod\n    def c(cls): return cls.__name__\na = A()\na.p = 3\nresult = (a.p, a.s(1), A.s(2), A.c(), a.c())",
        "(6, 1, 2, 'A', 'A')",
      ],
      [
        "class V:\n    def __init__(self, x): self.x = x\n    def __add__(self, o): return V(self.x + o.x)\n    def __eq__(self, o): return self.x == o.x\n    def __len__(self): return 3\n    def __getitem__(self, i): return self.x * i\n    def __call__(self, y): return self.x + y\n    def __repr__(self): return f'V({self.x})'\nv = V(1) + V(2)\nresult = (v, v == V(3), len(v), v[2], v(1), bool(v))",
        "(V(3), True, 3, 6, 4, True)",
      ],
      [
        "class A:\n    def __getattr__(self, name): return name + '!'\na = A()\nsetattr(a, 'x', 1)\nresult = (a.x, a.y, hasattr(a, 'x'), getattr(a, 'x', 2))",
        "(1, 'y!', True, 1)",
      ],
      [
        "class C(dict):\n    def __getattr__(self, k): return self[k]\nc = C(a=1)\nc['b'] = 2\nresult = (c.a, c.b, len(c), isinstance(c, dict))",
        "(1, 2, 2, True)",
      ],
    ]);
  });

  it("has dataclasses, named tuples, enums and argparse", () => {
    check([
      [
        "from dataclasses import dataclass, field, replace, asdict\n@dataclass\nclass C:\n    a: int\n    b: int = 2\n    c: list = field(default_factory=list)\n    def __post_init__(self): self.d = self.a * 2\nx = C(1)\nx.c.append(5)\ny = replace(x, a=4)\nresult = (x.a, x.b, x.d, C(0).c, y.d, asdict(y), C(1) == C(1))",
        "(1, 2, 2, [], 8, {'a': 4, 'b': 2, 'c': [5]}, True)",
      ],
      [
        "from typing import NamedTuple\nclass P(NamedTuple):\n    x: int\n    y: int = 2\np = P(1)\nresult = (p.x, p[1], p._asdict(), p._replace(y=5).y, len(p))",
        "(1, 2, {'x': 1, 'y': 2}, 5, 2)",
      ],
      [
        "from collections import namedtuple, OrderedDict, defaultdict\nP = namedtuple('P', 'x y')\nd = defaultdict(list)\nd['a'].append(1)\nresult = (P(1, y=2).y, list(OrderedDict([('k', 1)])), d['a'], d['b'])",
        "(2, ['k'], [1], [])",
      ],
      [
        "from enum import Enum, auto\nclass E(Enum):\n    A = 'a'\n    B = auto()\nresult = (E.A.value, E('a').name, E['A'] is E.A, [m.name for m in E], E.A == E.B)",
        "('a', 'A', True, ['A', 'B'], False)",
      ],
      [
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--batch-size', '-b', type=int, default=64)\np.add_argument('--fast', action='store_true')\np.add_argument('--lr', type=float, default='0.1')\na = p.parse_args()\nresult = (a.batch_size, a.fast, a.lr)",
        "(64, False, 0.1)",
      ],
      [
        "import math, copy\na = [[1]]\nb = copy.deepcopy(a)\nb[0].append(2)\nresult = (a, math.sqrt(16), math.ceil(1.2), math.floor(-1.2), math.prod([2, 3]), math.log2(8), math.gcd(12, 18))",
        "([[1]], 4.0, 2, -2, 6, 3.0, 6)",
      ],
    ]);
  });

  it("says what it does not know, and only that", () => {
    check([
      ["from .config import WIDTH\nresult = (WIDTH, 1)[1]", "1"],
      ["from .config import WIDTH\nresult = WIDTH * 2", "unknown: `WIDTH` comes from another file"],
      ["result = nobody_knows", "unknown: `nobody_knows` is not known here"],
      [
        "import numpy as np\nresult = np.load('x.npy')",
        "unknown: `numpy.load` reads a file, whose shape only a run can know",
      ],
      ["from .c import flag\nx = 1\nif flag:\n    print('on')\nresult = x", "1"],
      [
        "from .c import flag\nx = 1\nif flag:\n    x = 2\nresult = x",
        "unknown: which branch runs is not known: `flag` comes from another file",
      ],
      ["from .c import flag\nif flag:\n    raise ValueError('no')\nelse:\n    x = 2\nresult = x", "2"],
      [
        "from .c import n\nxs = []\nfor i in range(n):\n    xs.append(i)\nresult = len(xs)",
        "unknown: what the loop runs over is not known: `n` comes from another file",
      ],
      ["from .c import k\nd = {'a': 1}\nd[k] = 2\nresult = d['zz']", "unknown: `k` comes from another file"],
      [
        "def f(x):\n    raise RuntimeError('bad')\nresult = f(1)",
        "unknown: the code raises RuntimeError: bad",
      ],
      [
        "result = (lambda a: a)()",
        "unknown: the code raises TypeError: <lambda>() missing required argument 'a'",
      ],
      ["result = 2 ** 200", "unknown: the number is too large to be followed"],
    ]);
  });

  describe("ends, whatever it is given", () => {
    const cases: readonly (readonly [what: string, text: string])[] = [
      ["an infinite loop", "while True:\n    x = 1\nresult = 1"],
      ["an infinite generator", "def g():\n    while True:\n        yield 1\nresult = list(g())"],
      ["endless recursion", "def f(n): return f(n + 1)\nresult = f(0)"],
      ["endless recursion of a constructor", "class A:\n    def __init__(self): self.a = A()\nresult = A()"],
      ["a huge range", "result = sum(range(10 ** 12))"],
      ["a huge list", "result = [0] * 10 ** 9"],
      ["a huge string", "result = 'x' * 10 ** 10"],
      ["a growing list", "a = [1]\nwhile True:\n    a += a"],
      ["a list of itself", "a = []\na.append(a)\nresult = a == a"],
      ["a dict of itself", "d = {}\nd['d'] = d\nresult = str(d)"],
      ["a huge product", "import itertools\nresult = list(itertools.product(range(1000), repeat=9))"],
      ["nested comprehensions", "result = [1 for a in range(10**4) for b in range(10**4)]"],
      ["a class that is its own base", "class A(A): pass\nresult = A()"],
      [
        "a property that asks for itself",
        "class A:\n    @property\n    def p(self): return self.p\nresult = A().p",
      ],
      ["20,000 nested brackets", `result = ${"(".repeat(20_000)}1${")".repeat(20_000)}`],
      ["20,000 nested lists", `result = ${"[".repeat(20_000)}${"]".repeat(20_000)}`],
      ["20,000 additions", `result = ${"1 + ".repeat(20_000)}1`],
      ["20,000 nested calls", `def f(x): return x\nresult = ${"f(".repeat(20_000)}1${")".repeat(20_000)}`],
      [
        "a long elif",
        `x = 3\nif x == 0: pass\n${Array.from({ length: 5000 }, (_, i) => `elif x == -${i}: pass`).join("\n")}\nresult = x`,
      ],
      ["a syntax error", "def f(:\n  x = = 1\nclass (\nresult = 1"],
    ];
    for (const [what, text] of cases) {
      it(what, () => {
        const started = process.cpuUsage();
        assert.doesNotThrow(() => programOf(text));
        const { user } = process.cpuUsage(started);
        assert.ok(user < 20e6, `${what} took ${user / 1e6} s`);
      });
    }
  });

  it("takes methods from builtin types, for what comes first", () => {
    check([
      ["result = (str.split('a.b', '.'), list(map(str.upper, ['a', 'b'])))", "(['a', 'b'], ['A', 'B'])"],
      ["result = (dict.get({'a': 1}, 'a'), str.lower('X'), hasattr(str, 'nothing'))", "(1, 'x', False)"],
    ]);
  });

  it("does not take what it knows too little of for a mistake", () => {
    check([
      [
        "from pathlib import Path\nresult = Path('data').rglob('*.txt')",
        "unknown: attribute `rglob` of `PosixPath` is not known",
      ],
      ["import re\nresult = re.compile('a').flags", "unknown: attribute `flags` of `Pattern` is not known"],
      [
        "from torch import nn\nresult = nn.Linear(2, 3)._modules",
        "unknown: attribute `_modules` of `Linear` is not known",
      ],
      [
        "from torch import nn\nclass Net(nn.Module):\n    def load(self):\n        return super()._load_from_state_dict\nresult = Net().load()",
        "unknown: attribute `_load_from_state_dict` of `Net` is not known",
      ],
      ["class A: pass\nresult = A().__reduce__", "unknown: attribute `__reduce__` of `A` is not known"],
      [
        "from torch import nn\nresult = hasattr(nn.Linear(2, 3), 'kernel_size'), getattr(nn.ReLU(), 'weight', None)",
        "(False, None)",
      ],
    ]);
  });

  it("lets a decorator that it does not know give what a call leaves out", () => {
    check([
      [
        "import app\n@app.command\ndef run(size):\n    return size\nresult = run()",
        "unknown: the call of `app.command` is not understood",
      ],
      [
        "import app\n@app.command\ndef run(size=None):\n    return size\nresult = (run(), run(3))",
        "(None, 3)",
      ],
    ]);
  });

  it("gives click's options what the header's command line says", () => {
    const script = (options: string): string => `${options}
import click
import torch
from torch import nn
@click.command()
@click.option("-h", "--hidden-size", default=64)
@click.option("--bias/--no-bias", default=True)
@click.option("--rate", default=0.1)
def main(hidden_size, bias, rate):
    model = nn.Linear(16, hidden_size, bias=bias)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    for step in range(10):
        model(torch.randn(4, 16)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
main()
`;
    const countOf = (options: string) => {
      const estimate = analyze(parseModule(script(options))).estimates.first();
      return estimate?.complete === true ? estimate.parameters.count : undefined;
    };
    assert.equal(countOf(""), 17 * 64);
    assert.equal(countOf("# vram: args=--hidden-size 128 --rate 0.5"), 17 * 128);
    assert.equal(countOf("# vram: args=-h 8 --no-bias"), 16 * 8);
  });

  it("gives click's options their defaults", () => {
    const command = (options: string): string => `
import click
@click.command()
${options}
def main(hidden_size, use_amp):
    return hidden_size, use_amp
result = main()`;
    check([
      [
        command(
          "@click.option('-h', '--hidden-size', default=64)\n@click.option('--use-amp/--no-amp', default=True)",
        ),
        "(64, True)",
      ],
      [
        command(
          "@click.option('--size', 'hidden_size', default=8)\n@click.option('--use-amp', is_flag=True)",
        ),
        "(8, False)",
      ],
      [
        command("@click.argument('hidden_size')\n@click.option('--use-amp', is_flag=True)\n") + "[1]",
        "False",
      ],
      [
        command(
          "@click.option('--hidden-size', default='64', type=int)\n@click.option('--use-amp', is_flag=True)",
        ) + "[0]",
        "64",
      ],
    ]);
  });
});
