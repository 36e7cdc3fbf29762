import assert from "node:assert/strict";
import { parseModule } from "../../../server/src/python/parse";
import type { ImportedModule } from "../../../server/src/python/resolve-import";
import { buildScopes } from "../../../server/src/python/scope";
import { Source } from "../../../server/src/python/source";
import type { Call, Module } from "../../../server/src/python/tree";
import { torchFacts, type TorchFacts } from "../../../server/src/torch/facts";
import { loadParser } from "../../support/parser";

/** What the callee of the last call of a text is called in the library that it comes from. */
function libraryName(text: string, files: Readonly<Record<string, string>>): string | undefined {
  const { resolve } = factsOf(text, files, []);
  return resolve.qualifiedName((resolve.index.calls.at(-1) as Call).callee);
}

function factsOf(text: string, files: Readonly<Record<string, string>>, parsed: string[]): TorchFacts {
  const known = new Map(Object.entries(files).map(([key, file]) => [key, imported(key, file, parsed)]));
  const module = moduleOf(text);
  return torchFacts(module, buildScopes(module), (dotted, level, from) => {
    const folder = level === 0 ? "" : (from ?? "").replace(/[^/]*$/, "");
    const place = folder + dotted.replaceAll(".", "/");
    return known.get(`${place}.py`) ?? known.get(`${place}/__init__.py`);
  });
}

interface Followed {
  /** The file in which the function of the last call of the text was found. */
  readonly found: string | undefined;
  /** The files that were parsed on the way, in order. */
  readonly parsed: readonly string[];
}

function followed(text: string, files: Readonly<Record<string, string>>): Followed {
  const parsed: string[] = [];
  const { resolve } = factsOf(text, files, parsed);
  const call = resolve.index.calls.at(-1) as Call;
  return { found: resolve.imported.functionOf(call)?.file.key, parsed };
}

function imported(key: string, text: string, parsed: string[]): ImportedModule {
  let module: Module | undefined;
  return {
    key,
    source: new Source(text),
    get module() {
      if (module === undefined) parsed.push(key);
      return (module ??= moduleOf(text));
    },
  };
}

function moduleOf(text: string): Module {
  return parseModule(text).module;
}

describe("files that pass names on", () => {
  before(loadParser);

  it("are parsed only where their text has the name or a star import", () => {
    const files = {
      "package/__init__.py": "from .first import *\nfrom .second import *\nfrom .third import *\n",
      "package/first.py": "def train():\n    pass\n",
      "package/second.py": "def evaluate():\n    pass\n",
      "package/third.py": "def other():\n    pass\n",
    };
    const { found, parsed } = followed("from package import evaluate\nevaluate()\n", files);
    assert.equal(found, "package/second.py");
    assert.deepEqual(parsed, ["package/__init__.py", "package/second.py"]);
  });

  it("are found through star imports, however they are written", () => {
    const files = {
      "package/__init__.py": "from .inner import \\\n    *\n",
      "package/inner.py": "from .core import  *\n",
      "package/core.py": "def evaluate():\n    pass\n",
    };
    assert.equal(followed("from package import evaluate\nevaluate()\n", files).found, "package/core.py");
  });

  it("lead to the modules of a package that does not name them", () => {
    const files = {
      "package/__init__.py": '"""Nothing to see here."""\n',
      "package/steps.py": "def evaluate():\n    pass\n",
    };
    const { found, parsed } = followed("from package import steps\nsteps.evaluate()\n", files);
    assert.equal(found, "package/steps.py");
    assert.deepEqual(parsed, ["package/steps.py"]);
  });

  it("lead nowhere where nobody has the name", () => {
    const files = {
      "package/__init__.py": "from .inner import *\n",
      "package/inner.py": "def evaluate():\n    pass\n",
    };
    const { found, parsed } = followed("from package import missing\nmissing()\n", files);
    assert.equal(found, undefined);
    assert.deepEqual(parsed, ["package/__init__.py"]);
  });

  it("give a star import what `__all__` names, and nothing else", () => {
    const listed = {
      "first.py":
        "__all__ = [\n    \"evaluate\",  # the one for tests\n    '_train',\n]\ndef evaluate():\n    pass\ndef _train():\n    pass\ndef train():\n    pass\n",
      "second.py": "def train():\n    pass\n",
    };
    const stars = "from second import *\nfrom first import *\n";
    assert.equal(followed(`${stars}evaluate()\n`, listed).found, "first.py");
    assert.equal(followed(`${stars}_train()\n`, listed).found, "first.py");
    const { found, parsed } = followed(`${stars}train()\n`, listed);
    assert.deepEqual({ found, parsed }, { found: "second.py", parsed: ["second.py"] });
  });

  it("give all public names where `__all__` is computed or changed", () => {
    const text = "def train():\n    pass\n";
    for (const exports of [
      "__all__ = other.__all__\n",
      '__all__ = ["evaluate"]\n__all__ += ["train"]\n',
      '__all__ = ["evaluate", *names]\n',
      '__all__ = ["evaluate"] + names\n',
    ]) {
      const files = { "first.py": exports + text };
      assert.equal(followed("from first import *\ntrain()\n", files).found, "first.py", exports);
    }
  });

  it("are not searched where one of them is the index of a whole library", () => {
    const names = Array.from({ length: 40 }, (_, index) => `model_${index}`);
    const files = {
      "package/__init__.py": names.map((name) => `from .${name} import *\n`).join(""),
      ...Object.fromEntries(names.map((name) => [`package/${name}.py`, `def make_${name}():\n    pass\n`])),
    };
    const { found, parsed } = followed("from package import make_model_3\nmake_model_3()\n", files);
    assert.deepEqual({ found, parsed }, { found: undefined, parsed: ["package/__init__.py"] });
  });
});

describe("what files import of libraries", () => {
  before(loadParser);
  const common =
    "import os\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n" +
    "from torch.utils.data import DataLoader\n";
  const imports = "from common import *\n";

  it("is brought by a star import of the file", () => {
    const files = { "common.py": common };
    assert.equal(
      libraryName(`${imports}F.cross_entropy(a, b)\n`, files),
      "torch.nn.functional.cross_entropy",
    );
    assert.equal(libraryName(`${imports}nn.Linear(1, 2)\n`, files), "torch.nn.Linear");
    assert.equal(libraryName(`${imports}DataLoader([])\n`, files), "torch.utils.data.DataLoader");
    assert.equal(libraryName(`${imports}print(os)\n`, files), "builtins.print");
  });

  it("is passed on by files between", () => {
    const files = {
      "tools/__init__.py": "from .inner import *\n",
      "tools/inner.py": "from common import *\n",
      "common.py": common,
    };
    assert.equal(libraryName("from tools import *\nnn.Linear(1, 2)\n", files), "torch.nn.Linear");
  });

  it("is not what another definition of the name says", () => {
    const own = `${imports}class nn:\n    pass\nnn.Linear(1, 2)\n`;
    assert.equal(libraryName(own, { "common.py": common }), undefined);
    const text = `${imports}nn.Linear(1, 2)\n`;
    assert.equal(libraryName(text, { "common.py": `${common}nn = make()\n` }), undefined);
    assert.equal(libraryName(text, { "common.py": `__all__ = ["F"]\n${common}` }), undefined);
    assert.equal(libraryName(text, { "common.py": "def nn():\n    pass\n" }), undefined);
    const later = { "common.py": common, "other.py": "def nn():\n    pass\n" };
    assert.equal(libraryName(`${imports}from other import *\nnn.Linear(1, 2)\n`, later), undefined);
    assert.equal(libraryName(text, {}), undefined);
  });
});

describe("attributes of a base in another file", () => {
  before(loadParser);

  const base = ["import torch.nn as nn", "class Base(nn.Module):", "    def __init__(self):"];
  const files = {
    "base.py": [...base, "        super().__init__()", "        self.inner = nn.Linear(2, 2)"].join("\n"),
    "between.py": "from base import Base\nclass Between(Base):\n    pass",
  };

  function roleOfCalled(callee: string): string | undefined {
    const text = `from between import Between\nclass Net(Between):\n    def run(self, x):\n        ${callee}(x)`;
    const { resolve } = factsOf(text, files, []);
    return resolve.roleOf((resolve.index.calls.at(-1) as Call).callee);
  }

  it("are those that it or one of its own bases binds", () => {
    assert.equal(roleOfCalled("self.inner"), "model");
    assert.equal(roleOfCalled("self.other"), undefined);
    assert.equal(roleOfCalled("x.inner"), undefined);
  });
});

describe("what is kept of other files", () => {
  before(loadParser);

  /** Two scripts of one run: the second finds `steps.py` as `later` says. */
  function foundTwice(
    later: string | undefined,
    answers: object | undefined,
  ): readonly (string | undefined)[] {
    const helpers = imported("helpers.py", "from steps import evaluate\n", []);
    const first = imported("steps.py", "def evaluate():\n    pass\n", []);
    const second = later === undefined ? first : imported("steps.py", later, []);
    return [first, second].map((steps) => {
      const module = moduleOf("from helpers import evaluate\nevaluate()\n");
      const find = (dotted: string): ImportedModule | undefined =>
        dotted === "helpers" ? helpers : dotted === "steps" ? steps : undefined;
      const { resolve } = torchFacts(module, buildScopes(module), Object.assign(find, { answers }));
      return resolve.imported.functionOf(resolve.index.calls.at(-1) as Call)?.definition.name.id;
    });
  }

  it("is asked anew for who may find other files", () => {
    assert.deepEqual(foundTwice("class evaluate:\n    pass\n", undefined), ["evaluate", undefined]);
    assert.deepEqual(foundTwice(undefined, undefined), ["evaluate", "evaluate"]);
  });

  it("is not asked again for who finds the same", () => {
    const answers = {};
    assert.deepEqual(foundTwice(undefined, answers), ["evaluate", "evaluate"]);
    // Whoever gives the same object has promised that nothing is different.
    assert.deepEqual(foundTwice("class evaluate:\n    pass\n", answers), ["evaluate", "evaluate"]);
  });

  it("does not hold for others where too many files were in the way", () => {
    const answers = {};
    const names = Array.from({ length: 79 }, (_, index) => `part_${index}`);
    const texts = {
      ...Object.fromEntries(names.map((name) => [name, "x = 1\n"])),
      helpers: "from deep import evaluate\ndef run():\n    evaluate()\n",
      deep: "def evaluate():\n    pass\n",
    };
    const files = new Map(
      Object.entries(texts).map(([name, text]) => [name, imported(`${name}.py`, text, [])]),
    );
    const find = Object.assign((dotted: string) => files.get(dotted), { answers });
    /** Where what the helper calls is found, seen from a script that calls the helper last. */
    const found = (script: string): string | undefined => {
      const module = moduleOf(script);
      const { resolve } = torchFacts(module, buildScopes(module), find);
      const helper = resolve.index.calls.map((call) => resolve.imported.functionOf(call)).at(-1);
      const inside = helper?.file.torch.resolve;
      return inside?.imported.functionOf(inside.index.calls[0] as Call)?.file.key;
    };
    const others = names.map((name) => `import ${name}\n${name}.x()\n`).join("");
    const call = "from helpers import run\nrun()\n";
    assert.equal(found(others + call), undefined);
    assert.equal(found(call), "deep.py");
  });
});
