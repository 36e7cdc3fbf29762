import assert from "node:assert/strict";
import { parseModule } from "../../../server/src/python/parse";
import type { ImportedModule } from "../../../server/src/python/resolve-import";
import { buildScopes } from "../../../server/src/python/scope";
import { Source } from "../../../server/src/python/source";
import type { Call, Module } from "../../../server/src/python/tree";
import { torchFacts } from "../../../server/src/torch/facts";
import { loadParser } from "../../support/parser";

interface Followed {
  /** The file in which the function of the last call of the text was found. */
  readonly found: string | undefined;
  /** The files that were parsed on the way, in order. */
  readonly parsed: readonly string[];
}

function followed(text: string, files: Readonly<Record<string, string>>): Followed {
  const parsed: string[] = [];
  const known = new Map(Object.entries(files).map(([key, file]) => [key, imported(key, file, parsed)]));
  const module = moduleOf(text);
  const { resolve } = torchFacts(module, buildScopes(module), (dotted, level, from) => {
    const folder = level === 0 ? "" : (from ?? "").replace(/[^/]*$/, "");
    const place = folder + dotted.replaceAll(".", "/");
    return known.get(`${place}.py`) ?? known.get(`${place}/__init__.py`);
  });
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
});
