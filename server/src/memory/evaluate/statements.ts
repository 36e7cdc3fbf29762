/** One function a kind of statement. A completion says how a block was left before its end. */
import type * as tree from "../../python/tree";
import { isUnknown, type Unknown } from "../unknown";
import { noArguments } from "./arguments";
import { assign, assignUnknown, deleteTarget } from "./assign";
import { makeClass } from "./classes";
import { effectsOf, type Effects } from "./effects";
import { isSameEitherWay, returnedEitherWay } from "./either-way";
import { EvaluationStopped, PythonError } from "./errors";
import { binaryOperation, truthOf } from "./expressions";
import { decorate, makeFunction } from "./functions";
import { executeImport, executeImportFrom } from "./imports";
import { iterate } from "./iteration";
import type { Interpreter } from "./interpreter";
import { equal } from "./operations";
import { augmentedInPlace } from "./overloads";
import { doubtSetByName } from "./forget";
import { getAttribute } from "./attributes";
import { callMethod } from "./overloads";
import { getItem } from "./subscripts";
import { ClassValue, ContextValue, ObjectValue, TupleValue, type Value } from "./values";

/**
 * `undefined` when a block ran to its end. A returned value is held once for whoever takes it. `unknown`: whether and
 * how the block was left depends on what is not known.
 */
export type Completion =
  | undefined
  | { readonly kind: "break" }
  | { readonly kind: "continue" }
  | { readonly kind: "return"; readonly value: Value }
  | { readonly kind: "unknown"; readonly reason: Unknown };

export function executeStatement(interpreter: Interpreter, node: tree.Statement): Completion {
  switch (node.kind) {
    case "ExpressionStatement":
      return executeExpression(interpreter, node);
    case "Assign": {
      const value = interpreter.evaluate(node.value);
      for (const target of node.targets) assign(interpreter, target, value);
      return undefined;
    }
    case "AnnotatedAssign":
      if (node.value !== undefined) assign(interpreter, node.target, interpreter.evaluate(node.value));
      return undefined;
    case "AugmentedAssign":
      return executeAugmented(interpreter, node);
    case "Return": {
      const value = node.value === undefined ? null : interpreter.evaluate(node.value);
      interpreter.references.retain(value);
      return { kind: "return", value };
    }
    case "Delete":
      for (const target of node.targets) deleteTarget(interpreter, target);
      return undefined;
    case "Raise":
      return executeRaise(interpreter, node);
    case "Assert":
      return executeAssert(interpreter, node);
    case "Global":
      for (const name of node.names) interpreter.frame.declare(name.id, interpreter.frame.root);
      return undefined;
    case "Nonlocal":
      return executeNonlocal(interpreter, node);
    case "Pass":
    case "TypeAlias":
      return undefined;
    case "Break":
      return { kind: "break" };
    case "Continue":
      return { kind: "continue" };
    case "Import":
      return executeImport(interpreter, node);
    case "ImportFrom":
      return executeImportFrom(interpreter, node);
    case "If":
      return executeIf(interpreter, node);
    case "For":
      return executeFor(interpreter, node);
    case "While":
      return executeWhile(interpreter, node);
    case "With":
      return executeWith(interpreter, node);
    case "Try":
      return executeTry(interpreter, node);
    case "Match":
      return executeMatch(interpreter, node);
    case "FunctionDefinition": {
      const made = makeFunction(interpreter, node);
      if (interpreter.frame === interpreter.globals) interpreter.undecorated.set(node, made);
      const decorated = decorate(interpreter, node.decorators, made);
      interpreter.frame.assign(interpreter.references, node.name.id, decorated);
      return undefined;
    }
    case "ClassDefinition":
      interpreter.frame.assign(interpreter.references, node.name.id, makeClass(interpreter, node));
      return undefined;
    case "Invalid":
      return skipUnknown(interpreter, [[node]], interpreter.note(interpreter.unknown("syntax", node)));
  }
}

function executeExpression(interpreter: Interpreter, node: tree.ExpressionStatement): Completion {
  if (node.expression.kind === "String") return undefined;
  interpreter.evaluate(node.expression);
  return undefined;
}

function executeAugmented(interpreter: Interpreter, node: tree.AugmentedAssign): Completion {
  const { target } = node;
  const right = (): Value => interpreter.evaluate(node.value);
  const combine = (left: Value): Value => {
    const value = right();
    return (
      augmentedInPlace(interpreter, node.operator, left, value, node) ??
      binaryOperation(interpreter, node.operator, left, value, node)
    );
  };
  if (target.kind === "Attribute") {
    const object = interpreter.evaluate(target.object);
    const old = interpreter.references.keep(getAttribute(interpreter, object, target.attribute.id, target));
    assign(interpreter, target, interpreter.references.keep(combine(old)));
    return undefined;
  }
  if (target.kind === "Subscript") {
    const object = interpreter.evaluate(target.object);
    const index = interpreter.evaluate(target.index);
    const old = interpreter.references.keep(getItem(interpreter, object, index, target));
    assign(interpreter, target, interpreter.references.keep(combine(old)));
    return undefined;
  }
  assign(interpreter, target, interpreter.references.keep(combine(interpreter.evaluate(target))));
  return undefined;
}

function executeRaise(interpreter: Interpreter, node: tree.Raise): Completion {
  if (node.exception === undefined) return interpreter.raise("RuntimeError", "", node);
  const value = interpreter.evaluate(node.exception);
  const exception = value instanceof ClassValue ? interpreter.call(value, noArguments, node) : value;
  if (
    exception instanceof ObjectValue &&
    exception.type.isSubclassOf(interpreter.library.exception("BaseException"))
  ) {
    const text = typeof exception.payload === "string" ? exception.payload : "";
    throw new PythonError(exception, interpreter.reasonOfError(exception.type, text, node));
  }
  return interpreter.raise("Exception", "", node);
}

function executeAssert(interpreter: Interpreter, node: tree.Assert): Completion {
  const answer = truthOf(interpreter, interpreter.evaluate(node.test), node.test);
  if (answer === false) {
    const text = node.message === undefined ? "" : interpreter.evaluate(node.message);
    return interpreter.raise("AssertionError", typeof text === "string" ? text : "", node);
  }
  return undefined;
}

function executeNonlocal(interpreter: Interpreter, node: tree.Nonlocal): Completion {
  for (const name of node.names) {
    for (let frame = interpreter.frame.parent; frame !== undefined; frame = frame.parent) {
      if (frame.kind !== "function" || !frame.variables.has(name.id)) continue;
      interpreter.frame.declare(name.id, frame);
      break;
    }
  }
  return undefined;
}

function executeIf(interpreter: Interpreter, node: tree.If): Completion {
  let branch: tree.If = node;
  for (;;) {
    const answer = truthOf(interpreter, interpreter.evaluate(branch.test), branch.test);
    if (isUnknown(answer)) return undecided(interpreter, branch, answer);
    if (answer) return interpreter.execute(branch.body);
    const next = branch.orelse.length === 1 ? branch.orelse[0] : undefined;
    if (next?.kind !== "If") return interpreter.execute(branch.orelse);
    interpreter.tick();
    branch = next;
  }
}

/** Which branch runs is not known: go on where it makes no difference, else give up what the branches assign. */
function undecided(interpreter: Interpreter, node: tree.If, reason: Unknown): Completion {
  const [body, orelse] = [effectsOf(node.body), effectsOf(node.orelse)];
  if (body.harmless && orelse.harmless) return undefined;
  if (body.raises) return interpreter.execute(node.orelse);
  if (orelse.raises) return interpreter.execute(node.body);
  const isPassed = isAside(interpreter, body, orelse);
  if (isPassed && body.copies && !body.leaves && runAside(interpreter, node.body)) {
    passBy(interpreter, [orelse], reason);
    return undefined;
  }
  if (isSameEitherWay(interpreter, node, reason)) return undefined;
  const returned = returnedEitherWay(interpreter, node);
  if (returned !== undefined) return returned;
  if (isPassed) {
    passBy(interpreter, [body, orelse], reason);
    return undefined;
  }
  return skipUnknown(
    interpreter,
    [node.body, node.orelse],
    interpreter.noteCondition("condition", reason, node.test),
  );
}

/**
 * In an iteration of a training loop, code that trains nothing and may or may not run: keeping the best model, stopping
 * early, logging. It is no part of the step; what it binds is not known, and matters where it is used.
 */
function isAside(interpreter: Interpreter, ...effects: readonly Effects[]): boolean {
  const { training, frame } = interpreter;
  if (training?.forwards !== 0 || effects.some(({ trains }) => trains)) return false;
  // What a helper returns is used: it is not passed by.
  return frame === training.loopFrame || !effects.some(({ leaves }) => leaves);
}

function passBy(interpreter: Interpreter, effects: readonly Effects[], reason: Unknown): void {
  for (const { bound } of effects) for (const target of bound) assignUnknown(interpreter, target, reason);
}

/** Copies of the best model are there as soon as one iteration was the best so far: from the first on. */
function runAside(interpreter: Interpreter, body: readonly tree.Statement[]): boolean {
  const completion = interpreter.guard(() => interpreter.execute(body));
  if (isUnknown(completion)) interpreter.note(completion);
  return completion === undefined;
}

/** What any of the blocks might assign is no longer known. */
function skipUnknown(
  interpreter: Interpreter,
  blocks: readonly (readonly tree.Statement[])[],
  reason: Unknown,
): Completion {
  let leaves = false;
  for (const block of blocks) {
    const effects = effectsOf(block);
    for (const target of effects.targets) assignUnknown(interpreter, target, reason);
    doubtSetByName(interpreter, effects, reason);
    leaves ||= effects.leaves;
  }
  return leaves ? { kind: "unknown", reason } : undefined;
}

function executeFor(interpreter: Interpreter, node: tree.For): Completion {
  const iterable = interpreter.evaluate(node.iterable);
  const items = iterate(interpreter, iterable, node.iterable);
  if (isUnknown(items)) {
    const effects = effectsOf(node.body);
    if (effects.harmless) return undefined;
    if (isAside(interpreter, effects)) {
      assignUnknown(interpreter, node.target, items);
      passBy(interpreter, [effects], items);
      return undefined;
    }
    const reason = interpreter.noteCondition("loop", items, node.iterable);
    assignUnknown(interpreter, node.target, reason);
    return skipUnknown(interpreter, [node.body, node.orelse], reason);
  }
  const { references } = interpreter;
  const iterator = items[Symbol.iterator]();
  for (;;) {
    const mark = references.mark();
    const next = iterator.next();
    if (next.done === true) break;
    interpreter.tick();
    assign(interpreter, node.target, next.value);
    references.releaseTo(mark);
    const completion = interpreter.execute(node.body);
    if (completion === undefined || completion.kind === "continue") continue;
    if (completion.kind === "break") return undefined;
    if (completion.kind === "unknown")
      return skipUnknown(interpreter, [node.body, node.orelse], completion.reason);
    return completion;
  }
  return interpreter.execute(node.orelse);
}

function executeWhile(interpreter: Interpreter, node: tree.While): Completion {
  for (;;) {
    interpreter.tick();
    const answer = truthOf(interpreter, interpreter.evaluate(node.test), node.test);
    if (isUnknown(answer)) {
      const effects = effectsOf(node.body);
      if (isAside(interpreter, effects)) {
        passBy(interpreter, [effects], answer);
        return undefined;
      }
      const reason = interpreter.noteCondition("condition", answer, node.test);
      return skipUnknown(interpreter, [node.body, node.orelse], reason);
    }
    if (!answer) return interpreter.execute(node.orelse);
    const completion = interpreter.execute(node.body);
    if (completion === undefined || completion.kind === "continue") continue;
    if (completion.kind === "break") return undefined;
    if (completion.kind === "unknown")
      return skipUnknown(interpreter, [node.body, node.orelse], completion.reason);
    return completion;
  }
}

function executeWith(interpreter: Interpreter, node: tree.With): Completion {
  const exits: (() => void)[] = [];
  try {
    for (const item of node.items) {
      const context = interpreter.references.keep(interpreter.evaluate(item.context));
      const entered = enterContext(interpreter, context, item, exits);
      if (item.target !== undefined) assign(interpreter, item.target, entered);
    }
    return interpreter.execute(node.body);
  } finally {
    for (const exit of exits.reverse()) exit();
  }
}

/** What a block that stays entered begins with: nothing on the way to a place inside of it leaves it again. */
export function enteredBy(interpreter: Interpreter, item: tree.WithItem): Value {
  return enterContext(interpreter, interpreter.evaluate(item.context), item, []);
}

function enterContext(
  interpreter: Interpreter,
  context: Value,
  item: tree.WithItem,
  exits: (() => void)[],
): Value {
  if (context instanceof ContextValue) {
    const value = context.enter(interpreter);
    exits.push(() => context.exit(interpreter));
    return value;
  }
  if (context instanceof ObjectValue) {
    const entered = callMethod(interpreter, context, "__enter__", [], item);
    exits.push(() => void callMethod(interpreter, context, "__exit__", [null, null, null], item));
    return entered ?? context;
  }
  if (isUnknown(context)) return interpreter.tracing ? interpreter.note(context) : context;
  return context;
}

function executeTry(interpreter: Interpreter, node: tree.Try): Completion {
  const { library } = interpreter;
  const catchesImports = node.handlers.some(({ type }) => mayCatch(importErrors, type));
  const catchesTypes = node.handlers.some(({ type }) => mayCatch(typeErrors, type));
  const state = interpreter.state();
  let completion: Completion;
  try {
    if (catchesImports) library.optionalImports++;
    if (catchesTypes) library.handledTypeErrors++;
    try {
      completion = interpreter.execute(node.body);
    } finally {
      if (catchesImports) library.optionalImports--;
      if (catchesTypes) library.handledTypeErrors--;
    }
    completion ??= interpreter.execute(node.orelse);
  } catch (error) {
    if (error instanceof EvaluationStopped || !(error instanceof PythonError)) throw error;
    interpreter.restore(state);
    const handler = node.handlers.find((one) => handles(interpreter, one, error));
    if (handler === undefined) {
      interpreter.execute(node.finally);
      throw error;
    }
    if (handler.name !== undefined) {
      interpreter.frame.assign(interpreter.references, handler.name.id, error.exception);
    }
    completion = interpreter.execute(handler.body);
  }
  return interpreter.execute(node.finally) ?? completion;
}

const importErrors = ["ImportError", "ModuleNotFoundError", "Exception", "BaseException"];
const typeErrors = ["TypeError", "Exception", "BaseException"];

function mayCatch(errors: readonly string[], type: tree.Expression | undefined): boolean {
  if (type === undefined) return true;
  if (type.kind === "Tuple") return type.elements.some((one) => mayCatch(errors, one));
  return type.kind === "Name" && errors.includes(type.id);
}

function handles(interpreter: Interpreter, handler: tree.ExceptHandler, error: PythonError): boolean {
  if (handler.type === undefined) return true;
  const type = interpreter.evaluate(handler.type);
  const types = type instanceof TupleValue ? type.items : [type];
  return types.some((one) => one instanceof ClassValue && error.exception.type.isSubclassOf(one));
}

function executeMatch(interpreter: Interpreter, node: tree.Match): Completion {
  const subject = interpreter.evaluate(node.subject);
  for (const one of node.cases) {
    interpreter.tick();
    const { pattern } = one;
    const matched = pattern.irrefutable
      ? true
      : pattern.value === undefined
        ? undefined
        : equal(subject, interpreter.evaluate(pattern.value));
    if (matched === false) continue;
    if (matched === true && pattern.irrefutable) {
      for (const name of pattern.captures) interpreter.frame.assign(interpreter.references, name.id, subject);
    }
    const guard =
      matched === true && one.guard !== undefined
        ? truthOf(interpreter, interpreter.evaluate(one.guard), one.guard)
        : matched;
    if (guard === false) continue;
    if (guard === true) return interpreter.execute(one.body);
    const reason = interpreter.noteCondition("condition", isUnknown(guard) ? guard : subject, pattern);
    return skipUnknown(
      interpreter,
      node.cases.map((each) => each.body),
      reason,
    );
  }
  return undefined;
}
