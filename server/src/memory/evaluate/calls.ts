/** Calls: arguments, and what calling each kind of value means. */
import { unknownReasons } from "../../messages/estimate";
import type { Call, Expression, KeywordArgument, Span } from "../../python/tree";
import { dottedPath } from "../../python/walk";
import { Tensor } from "../tensor";
import { isUnknown, type Unknown } from "../unknown";
import { CallArguments } from "./arguments";
import { instantiate } from "./classes";
import { evaluateElements } from "./expressions";
import { callFunction, textOf } from "./functions";
import type { Interpreter } from "./interpreter";
import { withContext } from "./library/contexts";
import { callModule } from "./nn/call";
import { callMethod } from "./overloads";
import {
  BoundMethod,
  ClassValue,
  ContextValue,
  DictValue,
  FunctionValue,
  LibraryName,
  ListValue,
  MethodWrapper,
  NativeFunction,
  ObjectValue,
  PartialValue,
  SetValue,
  TupleValue,
  type Value,
} from "./values";

export function evaluateCall(interpreter: Interpreter, node: Call): Value {
  const callee = interpreter.evaluate(node.callee);
  const mark = interpreter.references.mark();
  const args = evaluateArguments(interpreter, node);
  const outer = interpreter.callSpan;
  const isVisible = !interpreter.isHidden;
  if (isVisible) interpreter.callSpan = node;
  const savedBefore = interpreter.execution.savedBytes;
  const result = isUnknown(args)
    ? callUnknown(interpreter, args, [], node)
    : isUnknown(callee)
      ? calledUnknown(interpreter, callee, args.positional, node)
      : callValue(interpreter, callee, args, node, mark);
  interpreter.callSpan = outer;
  if (isVisible) interpreter.recorder?.addCall(node, result, interpreter.execution.savedBytes - savedBefore);
  return result;
}

function calledUnknown(
  interpreter: Interpreter,
  callee: Unknown,
  given: readonly Value[],
  node: Call,
): Unknown {
  interpreter.training?.unknownCall(node, callee);
  if (interpreter.callResults.has(callee) && isTreatedAsModel(interpreter, callee, node))
    interpreter.modelLike.set(callee, interpreter.modelLike.get(callee) ?? modelIn(node));
  return callUnknown(interpreter, callee, given, node);
}

/** It is asked for what models have, or it was given a model and is called itself: `Wrapper(net)(x)`. */
function isTreatedAsModel(interpreter: Interpreter, callee: Unknown, node: Call): boolean {
  if (isOfModels(node)) return true;
  const isCalled = node.callee.kind !== "Attribute" || node.callee.attribute.id === "forward";
  return isCalled && interpreter.givenModels.has(callee);
}

/** What the call treats as a model, as the script writes it: `net` of `net(x)`, `net.forward(x)` and `net.eval()`. */
function modelIn(node: Call): string | undefined {
  const isMethod =
    node.callee.kind === "Attribute" && (node.callee.attribute.id === "forward" || isOfModels(node));
  return dottedPath(isMethod ? node.callee.object : node.callee);
}

/** A method that models have and hardly anything else: `net.parameters()`, `net.eval()`, `net.train(False)`. */
function isOfModels({ callee, positional, keywords }: Call): boolean {
  if (callee.kind !== "Attribute") return false;
  const name = callee.attribute.id;
  if (name === "parameters" || name === "named_parameters") return true;
  const isPlain = positional.every(({ kind }) => kind === "Boolean") && keywords.length === 0;
  return (name === "eval" || name === "train") && isPlain;
}

/** The arguments of a call, evaluated from left to right. */
export function evaluateArguments(interpreter: Interpreter, node: Call): CallArguments | Unknown {
  const positional = evaluateElements(interpreter, node.positional);
  if (isUnknown(positional)) return positional;
  if (node.keywords.length === 0 && node.keywordSpreads.length === 0) return new CallArguments(positional);
  const keywords = new Map<string, Value>();
  if (node.keywordSpreads.length === 0) {
    for (const { name, value } of node.keywords) keywords.set(name.id, interpreter.evaluate(value));
    return new CallArguments(positional, keywords);
  }
  let unknownKeywords: Unknown | undefined;
  const named: (KeywordArgument | { readonly start: number; readonly spread: Expression })[] = [
    ...node.keywords,
    ...node.keywordSpreads.map((spread) => ({ start: spread.start, spread })),
  ];
  for (const one of named.sort((first, second) => first.start - second.start)) {
    if (!("spread" in one)) {
      keywords.set(one.name.id, interpreter.evaluate(one.value));
      continue;
    }
    const { spread } = one;
    const value = interpreter.evaluate(spread);
    const dict = value instanceof ObjectValue ? value.payload : value;
    if (dict instanceof DictValue) {
      for (const entry of dict.entries.values()) {
        if (typeof entry.key === "string") keywords.set(entry.key, entry.value);
      }
      unknownKeywords ??= dict.uncertain;
    } else {
      unknownKeywords ??= isUnknown(value)
        ? value
        : interpreter.unknown("unsupported", spread, { what: "**" });
    }
  }
  return new CallArguments(positional, keywords, unknownKeywords);
}

/**
 * Calls a value. `stealFrom`: the temporaries from there on are nothing but the arguments; a Python function takes them
 * over.
 */
export function callValue(
  interpreter: Interpreter,
  callee: Value,
  args: CallArguments,
  span: Span | undefined,
  stealFrom?: number,
): Value {
  if (callee instanceof FunctionValue) return callFunction(interpreter, callee, args, span, stealFrom);
  if (callee instanceof NativeFunction) return callNative(interpreter, callee, args, span);
  if (callee instanceof BoundMethod)
    return isOwnStep(interpreter, callee)
      ? inOwnStep(interpreter, callee, args, span, stealFrom)
      : callBound(interpreter, callee, args, span, stealFrom);
  if (callee instanceof ClassValue) return instantiate(interpreter, callee, args, span);
  if (callee instanceof ObjectValue) return callObject(interpreter, callee, args, span);
  if (callee instanceof PartialValue) {
    const keywords = new Map([...callee.args.keywords, ...args.keywords]);
    const positional = [...callee.args.positional, ...args.positional];
    const unknownKeywords = args.unknownKeywords ?? callee.args.unknownKeywords;
    return callValue(
      interpreter,
      callee.callee,
      new CallArguments(positional, keywords, unknownKeywords),
      span,
    );
  }
  if (callee instanceof LibraryName) return interpreter.library.call(callee.path, args, span);
  if (callee instanceof MethodWrapper) return callValue(interpreter, callee.wrapped, args, span, stealFrom);
  if (callee instanceof ContextValue) return withContext(callee, args.at(0) ?? null);
  if (isUnknown(callee)) return callUnknown(interpreter, callee, args.positional, span);
  return interpreter.raise("TypeError", `'${interpreter.typeName(callee)}' object is not callable`, span);
}

/** Whether a method is a step of an optimizer that the script has written. */
function isOwnStep({ training }: Interpreter, { receiver, method }: BoundMethod): boolean {
  return (
    training !== undefined && receiver instanceof ObjectValue && training.isOwnStep(receiver, method.name)
  );
}

function inOwnStep(
  interpreter: Interpreter,
  callee: BoundMethod,
  args: CallArguments,
  span: Span | undefined,
  stealFrom: number | undefined,
): Value {
  const run = (): Value => callBound(interpreter, callee, args, span, stealFrom);
  const { receiver } = callee;
  if (interpreter.training === undefined || !(receiver instanceof ObjectValue)) return run();
  return interpreter.training.ownStepOf(receiver, span, run);
}

function callBound(
  interpreter: Interpreter,
  { receiver, method }: BoundMethod,
  args: CallArguments,
  span: Span | undefined,
  stealFrom: number | undefined,
): Value {
  const whole = args.withReceiver(receiver);
  return method instanceof FunctionValue
    ? callFunction(interpreter, method, whole, span, stealFrom)
    : callNative(interpreter, method, whole, span);
}

function callNative(
  interpreter: Interpreter,
  callee: NativeFunction,
  args: CallArguments,
  span: Span | undefined,
): Value {
  interpreter.tick(1 + workIn(args));
  if (++interpreter.depth > interpreter.limits.depth) {
    interpreter.depth--;
    return interpreter.note(interpreter.unknown("depth", span));
  }
  const result = callee.call(interpreter, args, span);
  interpreter.depth--;
  return result;
}

/** Elements that cost a native function as much as one step. */
const elementsAStep = 16;

/** Steps for what a native function may go over: every element of its arguments. */
function workIn(args: CallArguments): number {
  let elements = 0;
  for (const value of args.positional) elements += sizeOf(value);
  return Math.floor(elements / elementsAStep);
}

function sizeOf(value: Value): number {
  if (typeof value === "string") return value.length;
  if (value instanceof ListValue || value instanceof TupleValue) return value.items.length;
  return value instanceof DictValue || value instanceof SetValue ? value.entries.size : 0;
}

/** Charges an operator for the elements of its result or operands. */
export function chargeElements(interpreter: Interpreter, ...values: readonly Value[]): void {
  let elements = 0;
  for (const value of values) elements += sizeOf(value);
  if (elements >= elementsAStep) interpreter.tick(Math.floor(elements / elementsAStep));
}

function callObject(
  interpreter: Interpreter,
  object: ObjectValue,
  args: CallArguments,
  span: Span | undefined,
): Value {
  if (object.module !== undefined) return callModule(interpreter, object, args, span);
  const own = callMethod(interpreter, object, "__call__", args, span);
  if (own !== undefined) return own;
  if (object.type.unknownBase !== undefined) {
    return callUnknown(interpreter, object.type.unknownBase, args.positional, span);
  }
  return interpreter.raise("TypeError", `'${object.type.name}' object is not callable`, span);
}

/** Something that is not understood is called: what it does to tensors and modules is lost. */
export function callUnknown(
  interpreter: Interpreter,
  reason: Unknown,
  given: readonly Value[],
  span: Span | undefined,
): Unknown {
  interpreter.callResults.add(reason);
  const takesModel = given.some((value) => value instanceof ObjectValue && value.module !== undefined);
  if (takesModel) interpreter.givenModels.add(reason);
  if (given.some(holdsTensor)) interpreter.note(reason);
  else if ((interpreter.tracing || interpreter.notesChanges) && !onlyLooks(reason) && takesModel)
    noteChange(interpreter, span as Call | undefined);
  return reason;
}

/** Functions of libraries that are given a model to show, count or draw it, and leave it as it is. */
const looking: ReadonlySet<string> = new Set([
  "wandb.watch",
  "torchsummary.summary",
  "torchinfo.summary",
  "torchviz.make_dot",
  "thop.profile",
  "ptflops.get_model_complexity_info",
  "fvcore.nn.parameter_count_table",
]);

function onlyLooks({ reason }: Unknown): boolean {
  const { name } = reason.values;
  return reason.text === unknownReasons.call && typeof name === "string" && looking.has(name);
}

/** `patch(model)` as a statement: nobody can tell what it does to the model. */
function noteChange(interpreter: Interpreter, node: Call | undefined): void {
  if (node?.kind !== "Call" || node.parent?.kind !== "ExpressionStatement") return;
  interpreter.note(interpreter.unknown("changedModule", node, { name: textOf(node) }));
}

/** Arrays of numpy are on the host, whatever becomes of them. */
function holdsTensor(value: Value): boolean {
  if (value instanceof ListValue) return value.items.some(holdsTensor);
  return value instanceof Tensor && !value.isArray;
}
