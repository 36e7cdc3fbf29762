/** Functions of the evaluated code: made, decorated, their parameters bound, their bodies run. */
import type {
  Decorator,
  Expression,
  FunctionDefinition,
  Lambda,
  Node,
  Parameter,
  Span,
} from "../../python/tree";
import { isUnknown, type Unknown } from "../unknown";
import { CallArguments } from "./arguments";
import { childrenOf } from "../../python/walk";
import { EvaluationStopped, GeneratorCut, PythonError } from "./errors";
import { Frame } from "./frame";
import { forget } from "./forget";
import { dictOf } from "./iteration";
import { noteSizes, type Interpreter } from "./interpreter";
import type { DictValue } from "./values";
import { Yielded } from "./yielded";
import {
  FunctionValue,
  LibraryName,
  MethodWrapper,
  NativeFunction,
  PropertyValue,
  TupleValue,
  type ClassValue,
  type Value,
} from "./values";

export function makeFunction(interpreter: Interpreter, node: FunctionDefinition | Lambda): FunctionValue {
  const defaults = new Map<string, Value>();
  for (const parameter of node.parameters) {
    if (parameter.default !== undefined)
      defaults.set(parameter.name.id, interpreter.evaluate(parameter.default));
  }
  interpreter.frame.capture(node);
  const name = node.kind === "Lambda" ? "<lambda>" : node.name.id;
  return new FunctionValue(node, name, defaults, interpreter.frame, undefined);
}

/** Decorators, innermost first. What is not known is taken to leave the function as it is, and that is said. */
export function decorate(interpreter: Interpreter, decorators: readonly Decorator[], made: Value): Value {
  let value = made;
  for (const decorator of [...decorators].reverse()) {
    const applied = applyDecorator(interpreter, decorator.expression, value);
    value = applied;
  }
  return value;
}

function applyDecorator(interpreter: Interpreter, expression: Expression, value: Value): Value {
  const decorator = interpreter.evaluate(expression);
  if (
    isUnknown(decorator) ||
    (decorator instanceof LibraryName && !interpreter.library.isCallable(decorator.path))
  ) {
    return assumedTransparent(interpreter, expression, value);
  }
  const result = interpreter.call(decorator, new CallArguments([value]), expression);
  return isUnknown(result) ? assumedTransparent(interpreter, expression, value) : result;
}

function assumedTransparent(interpreter: Interpreter, decorator: Expression, value: Value): Value {
  const name = textOf(decorator);
  interpreter.assumed.set(`decorator:${name}`, interpreter.ownSpan(decorator));
  if (value instanceof FunctionValue) value.decoratedBy ??= interpreter.unknown("call", decorator, { name });
  return value;
}

/** The dotted name an expression is, for messages. */
export function textOf(expression: Expression): string {
  const names: string[] = [];
  let node: Expression = expression;
  for (;;) {
    if (node.kind === "Call") node = node.callee;
    else if (node.kind === "Subscript") node = node.object;
    else if (node.kind === "Attribute") {
      names.unshift(node.attribute.id);
      node = node.object;
    } else break;
  }
  names.unshift(node.kind === "Name" ? node.id : "…");
  return names.join(".");
}

const generatorCache = new WeakMap<Node, boolean>();

/** Whether a function has a `yield` of its own. */
function isGenerator(node: FunctionDefinition | Lambda): boolean {
  const known = generatorCache.get(node);
  if (known !== undefined) return known;
  let found = false;
  const pending: Node[] = node.kind === "Lambda" ? [] : [...node.body];
  for (let next = pending.pop(); next !== undefined && !found; next = pending.pop()) {
    if (next.kind === "Yield") found = true;
    if (next.kind === "FunctionDefinition" || next.kind === "Lambda" || next.kind === "ClassDefinition")
      continue;
    pending.push(...childrenOf(next));
  }
  generatorCache.set(node, found);
  return found;
}

/**
 * Calls a function. `stealFrom`: the temporaries from there on are the arguments, which the callee takes over, as CPython
 * hands the caller's references to a Python function's frame.
 */
export function callFunction(
  interpreter: Interpreter,
  callee: FunctionValue,
  args: CallArguments,
  span: Span | undefined,
  stealFrom?: number,
): Value {
  const { references } = interpreter;
  if (interpreter.depth + 1 > interpreter.limits.depth)
    return interpreter.note(interpreter.unknown("depth", span));
  const frame = new Frame("function", callee.closure, callee);
  references.retain(frame);
  const fault = bind(interpreter, callee, args, frame, span);
  if (fault !== undefined) {
    frame.leave(references);
    return fault;
  }
  if (interpreter.sampler !== undefined) noteSizes(interpreter.sampler, frame);
  if (stealFrom !== undefined) references.releaseTo(stealFrom);
  const outer = interpreter.frame;
  const outside =
    callee.closure.file === undefined ? interpreter.enterUserCode() : interpreter.enterOtherFile();
  interpreter.frame = frame;
  interpreter.depth++;
  try {
    return references.own(runBody(interpreter, callee.node, frame));
  } catch (error) {
    if (error instanceof EvaluationStopped && callee.node.kind === "FunctionDefinition") {
      interpreter.frame = frame;
      forget(interpreter, callee.node.body, error.unknown);
    }
    throw error;
  } finally {
    interpreter.depth--;
    interpreter.frame = outer;
    interpreter.leaveFunction(outside);
    frame.leave(references);
  }
}

/** The result is held once for the caller. */
function runBody(interpreter: Interpreter, node: FunctionDefinition | Lambda, frame: Frame): Value {
  const { references } = interpreter;
  if (node.kind === "Lambda") {
    const mark = references.mark();
    const value = interpreter.evaluate(node.body);
    references.retain(value);
    references.releaseTo(mark);
    return value;
  }
  if (isGenerator(node)) return runGenerator(interpreter, node, frame);
  const completion = interpreter.execute(node.body);
  if (completion?.kind === "return") return completion.value;
  return completion?.kind === "unknown" ? completion.reason : null;
}

/**
 * A generator is run to its end before what it yields is used. Around a loader's one batch of a training loop the code behind
 * its `yield` (logging, averages) finds nothing done yet with that batch: where it fails, the batch is still there.
 */
function runGenerator(interpreter: Interpreter, node: FunctionDefinition, frame: Frame): Value {
  const yielded = new Yielded();
  frame.yielded = yielded;
  const state = interpreter.state();
  try {
    interpreter.execute(node.body);
  } catch (error) {
    const isTraining = interpreter.sampler?.isEntering === true;
    const isUsable = isTraining && yielded.turns.length > 0 && error instanceof PythonError;
    if (!isUsable && !(error instanceof GeneratorCut)) throw error;
    interpreter.restore(state);
  }
  return yielded.iterator(interpreter.references, () => {
    throw new EvaluationStopped(interpreter.unknown("steps", node, { steps: interpreter.steps }));
  });
}

/** The parameters of a function by what they take. */
interface SortedParameters {
  readonly positional: readonly Parameter[];
  readonly rest: Parameter | undefined;
  readonly others: Parameter | undefined;
  readonly named: ReadonlyMap<string, Parameter>;
}

const sortedCache = new WeakMap<readonly Parameter[], SortedParameters>();

function sorted(parameters: readonly Parameter[]): SortedParameters {
  let found = sortedCache.get(parameters);
  if (found === undefined) {
    found = {
      positional: parameters.filter(
        (one) => one.parameterKind === "normal" || one.parameterKind === "positional-only",
      ),
      rest: parameters.find((one) => one.parameterKind === "args"),
      others: parameters.find((one) => one.parameterKind === "kwargs"),
      named: new Map(parameters.map((parameter) => [parameter.name.id, parameter])),
    };
    sortedCache.set(parameters, found);
  }
  return found;
}

/** Puts the arguments into the frame. Unknown when the call does not fit what is known of the function. */
export function bind(
  interpreter: Interpreter,
  callee: FunctionValue,
  args: CallArguments,
  frame: Frame,
  span: Span | undefined,
): Unknown | undefined {
  const { references } = interpreter;
  const { positional, rest, others, named } = sorted(callee.node.parameters);
  const set = (parameter: Parameter, value: Value): void =>
    frame.assign(references, parameter.name.id, value);

  for (const [i, parameter] of positional.entries()) {
    if (i < args.positional.length) set(parameter, args.positional[i] ?? null);
  }
  frame.receiver = args.positional[0] ?? null;
  const surplus = args.positional.slice(positional.length);
  if (rest !== undefined) set(rest, new TupleValue(surplus));
  else if (surplus.length > 0) {
    interpreter.raise("TypeError", `${callee.name}() takes ${positional.length} positional arguments`, span);
  }
  const extra: [string, Value][] = [];
  for (const [name, value] of args.keywords) {
    const parameter = named.get(name);
    const takesKeyword = parameter?.parameterKind === "normal" || parameter?.parameterKind === "keyword-only";
    if (parameter !== undefined && takesKeyword) set(parameter, value);
    else if (others !== undefined) extra.push([name, value]);
    else
      interpreter.raise("TypeError", `${callee.name}() got an unexpected keyword argument '${name}'`, span);
  }
  if (others !== undefined) {
    const dict: DictValue = dictOf(extra);
    dict.tainted = args.unknownKeywords;
    set(others, dict);
  }
  return fillDefaults(interpreter, callee, args, frame, span);
}

function fillDefaults(
  interpreter: Interpreter,
  callee: FunctionValue,
  args: CallArguments,
  frame: Frame,
  span: Span | undefined,
): Unknown | undefined {
  for (const parameter of callee.node.parameters) {
    const name = parameter.name.id;
    if (
      parameter.parameterKind === "args" ||
      parameter.parameterKind === "kwargs" ||
      frame.variables.has(name)
    )
      continue;
    const otherwise = callee.defaults.has(name) ? callee.defaults.get(name) : callee.decoratedBy;
    if (args.unknownKeywords !== undefined) frame.assign(interpreter.references, name, args.unknownKeywords);
    else if (otherwise !== undefined) frame.assign(interpreter.references, name, otherwise);
    else interpreter.raise("TypeError", `${callee.name}() missing required argument '${name}'`, span);
  }
  return undefined;
}

/** The class whose body is being evaluated owns the functions made in it. */
export function claimMethods(type: ClassValue): void {
  for (const value of type.attributes.values()) claim(value, type, 0);
}

function claim(value: Value, type: ClassValue, depth: number): void {
  if (depth > 8) return;
  if (value instanceof FunctionValue) value.definingClass ??= type;
  else if (value instanceof MethodWrapper) claim(value.wrapped, type, depth + 1);
  else if (value instanceof NativeFunction) for (const held of value.holds) claim(held, type, depth + 1);
  else if (value instanceof PropertyValue) {
    claim(value.getter, type, depth + 1);
    claim(value.setter, type, depth + 1);
  }
}
