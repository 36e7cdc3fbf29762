/** Instances of classes that take arguments, from what the file says about making them. */
import type { Module, Parameter } from "../../python/tree";
import { instantiations, requiredArgument } from "./subject";
import { CallArguments } from "../evaluate/arguments";
import { textOf } from "../evaluate/functions";
import { namedModules, unknownParts } from "../evaluate/nn/state";
import type { Program } from "../evaluate/program";
import { isLimit } from "../evaluate/reasons";
import { ClassValue, FunctionValue, ObjectValue, type Value } from "../evaluate/values";
import { isUnknown, type Unknown } from "../unknown";

export interface Example {
  readonly model: ObjectValue;
  /** How to get at it, e.g. `resnet18().layer1.0`. */
  readonly text: string;
  /** What was not understood while it was made. */
  readonly noted: readonly Unknown[];
  /** It is a part of the model that was known before. */
  readonly isKnown: boolean;
}

/** Functions, classes and calls that are tried in one file, of each kind. */
const mostTried = 8;

/** A model that another program has made; it was fully understood, and nothing has changed it since. */
export interface KnownModel {
  readonly model: ObjectValue;
  /** How it was made: `Net()` or `Net(Config())`, of classes of the file. */
  readonly text: string;
}

/** The first instance of each class of the file, by the class's name. */
export function examplesOf(
  program: Program,
  module: Module,
  known: KnownModel | undefined,
): ReadonlyMap<string, Example> {
  const search = new Search(program, known);
  const orKnown = (text: string, type: ClassValue, make: () => Value): Value =>
    known?.text === text && known.model.type.node === type.node ? known.model : make();
  for (const value of program.interpreter.undecorated.values()) {
    if (!isFactory(value)) continue;
    if (!search.goesOn("function")) break;
    if (!search.add(made(program, value), `${value.name}()`, "as it is")) break;
  }
  const classes = program.moduleClasses();
  for (const { name, type, node } of classes) {
    if (requiredArgument(program, name) !== undefined || !search.goesOn("class")) continue;
    const instance = orKnown(`${name}()`, type, () => program.instantiate(type, node.name));
    if (!search.add(instance, `${name}()`, "understood")) return search.found;
  }
  for (const call of instantiations(module, new Set(classes.map(({ name }) => name)))) {
    if (!search.goesOn("call")) break;
    if (!search.add(program.evaluateInPlace(call), `${textOf(call)}(…)`, "understood")) return search.found;
  }
  for (const { name, type } of classes) {
    const configured = search.goesOn("configuration") ? configurationOf(program, type) : undefined;
    if (configured === undefined) continue;
    const text = `${name}(${configured.text})`;
    const model = orKnown(text, type, () => program.build(type, new CallArguments(configured.values)));
    if (!search.add(model, text, "understood")) break;
  }
  return search.found;
}

/** Collects instances of the classes that need arguments. */
class Search {
  readonly found = new Map<string, Example>();
  private readonly wanted: ReadonlySet<string>;
  private readonly open: Set<string>;
  private readonly tried = new Map<string, number>();

  constructor(
    private readonly program: Program,
    private readonly known: KnownModel | undefined,
  ) {
    const names = program.moduleClasses().map(({ name }) => name);
    this.wanted = new Set(names);
    this.open = new Set(names.filter((name) => requiredArgument(program, name) !== undefined));
    program.interpreter.noted.clear();
  }

  /** Whether a class is still without an instance, and one more of this kind may be tried. */
  goesOn(kind: string): boolean {
    const count = this.tried.get(kind) ?? 0;
    this.tried.set(kind, count + 1);
    return count < mostTried && (this.open.size > 0 || kind === "function");
  }

  /** Takes the parts of a model; false when a limit of the evaluator was met. */
  add(model: Value, text: string, kind: "as it is" | "understood"): boolean {
    const { program } = this;
    const noted = program.noted();
    program.interpreter.noted.clear();
    if (isUnknown(model)) return !isLimit(model.reason);
    if (!(model instanceof ObjectValue) || model.module === undefined) return true;
    if (kind === "understood" && (noted.length > 0 || unknownParts(model).length > 0)) return true;
    for (const { path, module } of namedModules(model)) {
      const className = module.type.name;
      if (module.type.isImported || !this.wanted.has(className) || this.found.has(className)) continue;
      const isKnown = model === this.known?.model;
      this.found.set(className, {
        model: module,
        text: path === "" ? text : `${text}.${path}`,
        noted,
        isKnown,
      });
      this.open.delete(className);
    }
    return true;
  }
}

/** Names of parameters that take all sizes at once. */
const configurationParameter = /^(\w*_)?(config|cfg|conf|args|hparams|params|opt)$/;
const configurationClass = /(Config|Args|Arguments|Params|Options)$/;

/**
 * Arguments for a class whose constructor takes nothing but objects of classes of this file that have a default for
 * everything: by their annotation, else by name where the file has one such class alone.
 */
function configurationOf(
  program: Program,
  type: ClassValue,
): { readonly values: readonly Value[]; readonly text: string } | undefined {
  const init = type.attribute("__init__");
  if (!(init instanceof FunctionValue)) return undefined;
  const needed = init.node.parameters
    .slice(1)
    .filter((one) => one.default === undefined && /^(normal|positional-only)$/.test(one.parameterKind));
  if (needed.length === 0) return undefined;
  const values: Value[] = [];
  const names: string[] = [];
  for (const parameter of needed) {
    const found = configurationClassOf(program, parameter);
    if (found === undefined) return undefined;
    const value = program.build(found, new CallArguments([]));
    if (isUnknown(value)) return undefined;
    values.push(value);
    names.push(`${found.name}()`);
  }
  return { values, text: names.join(", ") };
}

function configurationClassOf(program: Program, { name, annotation }: Parameter): ClassValue | undefined {
  const annotated =
    annotation?.kind === "Name"
      ? annotation.id
      : annotation?.kind === "String"
        ? annotation.value
        : undefined;
  const plain = [...program.interpreter.globals.variables.values()].filter(
    (value): value is ClassValue => value instanceof ClassValue && value.node !== undefined && !value.isEnum,
  );
  if (annotated !== undefined) return plain.find((one) => one.name === annotated && !isModule(program, one));
  if (!configurationParameter.test(name.id)) return undefined;
  const candidates = plain.filter((one) => configurationClass.test(one.name) && !one.isImported);
  return candidates.length === 1 ? candidates[0] : undefined;
}

function isModule(program: Program, type: ClassValue): boolean {
  return program.moduleClasses().some((one) => one.type === type);
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
