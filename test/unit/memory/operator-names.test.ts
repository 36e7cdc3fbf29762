/**
 * Which of PyTorch's public names the evaluator does not know. The list is a table: a name that is lost fails here, and one
 * that is learnt must be taken off it.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadParser } from "../../support/parser";
import { parseModule } from "../../../server/src/python/parse";
import { findAttribute } from "../../../server/src/memory/evaluate/attributes";
import { Program } from "../../../server/src/memory/evaluate/program";
import { isKnownOptimizer } from "../../../server/src/memory/optimizers";
import { Execution } from "../../../server/src/memory/tape";

type Names = Readonly<Record<string, readonly string[]>>;

function read(file: string): unknown {
  return JSON.parse(readFileSync(join(__dirname, "../../goldens", file), "utf8"));
}

const { names } = read("names.json") as { names: Names };

/** What is not known, by where it lives. */
function unknownNames(): Record<string, string[]> {
  const execution = new Execution({ device: "cuda" });
  const { interpreter } = new Program(execution, parseModule("").module);
  const tensor = execution.input([2, 2], "float32");
  const isKnown = (place: string, name: string): boolean => {
    const path = `${place}.${name}`;
    if (place === "torch.optim")
      return isKnownOptimizer(name) || interpreter.library.classOf(path) !== undefined;
    if (place === "torch.nn") return interpreter.library.classOf(path) !== undefined;
    if (place !== "torch.Tensor") return interpreter.library.isCallable(path);
    return (
      execution.supports(`Tensor.${name}`) ||
      findAttribute(interpreter, tensor, name, undefined) !== undefined
    );
  };
  return Object.fromEntries(
    Object.entries(names).map(([place, all]) => [place, all.filter((name) => !isKnown(place, name))]),
  );
}

describe("PyTorch's public names", () => {
  before(loadParser);

  it("are known but for those of the table", () => {
    const unknown = unknownNames();
    if (process.env.VRAMLINT_PRINT_NAMES !== undefined) console.log(JSON.stringify(unknown, undefined, 1));
    assert.deepEqual(unknown, read("unknown_names.json"));
  });
});
