/** Instances of classes that take arguments, from the functions of the file that make models of them. */
import { CallArguments } from "./evaluate/arguments";
import { namedModules } from "./evaluate/nn/state";
import type { Program } from "./evaluate/program";
import { isLimit } from "./evaluate/reasons";
import { ObjectValue, type FunctionValue, type Value } from "./evaluate/values";
import { isUnknown, type Unknown } from "./unknown";

export interface Example {
  readonly model: ObjectValue;
  /** How to get at it, e.g. `resnet18().layer1.0`. */
  readonly text: string;
  /** What was not understood while it was made. */
  readonly noted: readonly Unknown[];
}

/** Functions that are tried in one file. */
const mostTried = 8;

/** The first instance of each class of the file, by the class's name. */
export function examplesOf(program: Program): ReadonlyMap<string, Example> {
  const found = new Map<string, Example>();
  const wanted = new Set(program.moduleClasses().map(({ name }) => name));
  let tried = 0;
  for (const value of program.interpreter.undecorated.values()) {
    if (!isFactory(value)) continue;
    if (tried++ >= mostTried || [...wanted].every((one) => found.has(one))) break;
    const { name } = value;
    const model = made(program, value);
    if (isUnknown(model) && isLimit(model.reason)) break;
    if (!(model instanceof ObjectValue) || model.module === undefined) continue;
    const noted = program.noted();
    for (const { path, module } of namedModules(model)) {
      const className = module.type.name;
      if (module.type.isImported || !wanted.has(className) || found.has(className)) continue;
      found.set(className, { model: module, text: `${name}()${path === "" ? "" : `.${path}`}`, noted });
    }
  }
  return found;
}

/**
 * What a function makes: as its decorators leave it, else as it is written, because decorators of factories register them
 * or translate old arguments.
 */
function made(program: Program, value: FunctionValue): Value {
  const decorated = program.global(value.name);
  const isDecorated = decorated !== undefined && decorated !== value && !isUnknown(decorated);
  for (const callee of isDecorated ? [decorated, value] : [value]) {
    program.interpreter.noted.clear();
    const model = program.build(callee, new CallArguments([]));
    if (model instanceof ObjectValue || callee === value) return model;
  }
  return null;
}

/** A function of the file that can be called without arguments and returns what it made. */
function isFactory(value: FunctionValue): boolean {
  const { node } = value;
  if (node.kind !== "FunctionDefinition") return false;
  if (node.name.id === "main") return false;
  const returned = node.body.findLast((statement) => statement.kind === "Return")?.value;
  if (returned?.kind !== "Call" && returned?.kind !== "Name") return false;
  return node.parameters.every(
    ({ default: otherwise, parameterKind }) =>
      otherwise !== undefined || parameterKind === "args" || parameterKind === "kwargs",
  );
}
