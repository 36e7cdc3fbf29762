/**
 * Evaluates an expression of the script where it stands, e.g. `Net(args.width)` inside `main()`: the statements before it
 * in its function are run first, parameters taking their defaults.
 */
import type { Assign, Call, Expression, FunctionDefinition, Node, Statement } from "../../python/tree";
import { isUnknown } from "../unknown";
import { someNode } from "../../python/walk";
import { calledName } from "./effects";
import { forget } from "./forget";
import { Frame } from "./frame";
import type { Interpreter } from "./interpreter";
import { isLimit } from "./reasons";
import { FunctionValue, ObjectValue, type Value } from "./values";

/** The blocks around a node, outermost first: the statements that come before it in each. */
interface Path {
  readonly callee: FunctionDefinition | undefined;
  readonly before: readonly (readonly Statement[])[];
}

function pathTo(expression: Expression): Path {
  const before: Statement[][] = [];
  let child: Node = expression;
  let node = expression.parent;
  while (node !== undefined && node.kind !== "Module" && node.kind !== "FunctionDefinition") {
    before.unshift(precedingIn(node, child));
    child = node;
    node = node.parent;
  }
  if (node?.kind === "FunctionDefinition") {
    before.unshift(precedingIn(node, child));
    return { callee: node, before };
  }
  return { callee: undefined, before };
}

/** The statements of the same block of `holder` that come before `child`. */
export function precedingIn(holder: Node, child: Node): Statement[] {
  const place = placeIn(holder, child);
  return place === undefined ? [] : place.block.slice(0, place.at);
}

/** The statements behind a child in the block of its holder. */
export function followingIn(holder: Node, child: Node): Statement[] {
  const place = placeIn(holder, child);
  return place === undefined ? [] : place.block.slice(place.at + 1);
}

function placeIn(holder: Node, child: Node) {
  for (const block of blocksOf(holder)) {
    const at = block.findIndex((statement) => statement === child);
    if (at >= 0) return { block, at };
  }
  return undefined;
}

/** The blocks of statements of a compound statement; none of others. */
export function blocksOf(node: Node): (readonly Statement[])[] {
  switch (node.kind) {
    case "FunctionDefinition":
    case "With":
    case "ClassDefinition":
      return [node.body];
    case "If":
    case "For":
    case "While":
      return [node.body, node.orelse];
    case "Try":
      return [node.body, node.orelse, node.finally, ...node.handlers.map((handler) => handler.body)];
    default:
      return [];
  }
}

/**
 * The model that a call of the file makes, evaluated in the function (or top-level block) it stands in. Where the call is
 * part of `model = …`, it is what `model` is when the optimizer is made: layers replaced and parameters frozen meanwhile
 * count. `entered` is the frame of that function as its caller made it; without one its parameters take their defaults.
 */
export function evaluateInPlace(
  interpreter: Interpreter,
  expression: Expression,
  allowance: () => void,
  entered?: Frame,
): Value {
  const { callee, before } = pathTo(expression);
  const outer = interpreter.frame;
  interpreter.frame = entered ?? (callee === undefined ? interpreter.globals : frameOf(interpreter, callee));
  try {
    prepare(interpreter, before.flat(), allowance);
    interpreter.noted.clear();
    const made = assignmentOf(expression);
    const value = made === undefined ? undefined : finalValue(interpreter, made, allowance);
    if (value instanceof ObjectValue && value.module !== undefined) return value;
    if (value !== undefined && isUnknown(value)) {
      if (isLimit(value.reason)) return value;
      interpreter.note(value);
    }
    allowance();
    return interpreter.guard(() => held(interpreter, interpreter.evaluate(expression)));
  } finally {
    interpreter.skipForward = false;
    interpreter.frame = outer;
  }
}

function held(interpreter: Interpreter, value: Value): Value {
  interpreter.references.retain(value);
  return value;
}

/** Runs statements for the names they bind; what fails leaves them unknown. Models are not called unless asked for. */
export function prepare(
  interpreter: Interpreter,
  statements: readonly Statement[],
  allowance: () => void,
  skipForward = true,
): void {
  interpreter.skipForward = skipForward;
  for (const statement of statements) {
    if (trains(statement)) continue;
    allowance();
    const fault = interpreter.guard(() => void interpreter.execute([statement]));
    if (isUnknown(fault)) forget(interpreter, [statement], fault);
  }
  interpreter.skipForward = false;
}

interface Assignment {
  readonly statement: Assign;
  readonly name: string;
  /** What follows in the same block. */
  readonly rest: readonly Statement[];
}

/** The statement `name = … expression …` that an expression stands in. */
function assignmentOf(expression: Expression): Assignment | undefined {
  let node: Node | undefined = expression.parent;
  while (node !== undefined && (node.kind === "Call" || node.kind === "Attribute")) node = node.parent;
  if (node?.kind !== "Assign" || node.parent === undefined) return undefined;
  const [target] = node.targets;
  if (node.targets.length !== 1 || target?.kind !== "Name") return undefined;
  const statement = node;
  const holder = node.parent;
  const block = (holder.kind === "Module" ? [holder.body] : blocksOf(holder)).find((one) =>
    one.includes(statement),
  );
  if (block === undefined) return undefined;
  return { statement, name: target.id, rest: block.slice(block.indexOf(statement) + 1) };
}

/** What the name is once the model is ready to be trained. */
function finalValue(interpreter: Interpreter, made: Assignment, allowance: () => void): Value | undefined {
  allowance();
  const fault = interpreter.guard(() => void interpreter.execute([made.statement]));
  if (isUnknown(fault)) return isLimit(fault.reason) ? fault : undefined;
  interpreter.tracing = true;
  const until = made.rest.findIndex(
    (statement) =>
      trains(statement) || takesParameters(statement, made.name) || handsOver(statement, made.name),
  );
  prepare(interpreter, until < 0 ? [] : made.rest.slice(0, until), allowance);
  const last = made.rest[until];
  // a trainer may add adapters to the model, or checkpoint its layers
  if (last !== undefined && makesTrainer(last, made.name)) prepare(interpreter, [last], allowance);
  interpreter.tracing = false;
  const value = interpreter.frame.lookup(made.name);
  return value === undefined ? undefined : held(interpreter, value);
}

/** Whether a statement hands `name.parameters()` to somebody: the optimizer is made here. */
function takesParameters(statement: Statement, name: string): boolean {
  if (
    statement.kind === "For" ||
    statement.kind === "FunctionDefinition" ||
    statement.kind === "ClassDefinition"
  )
    return false;
  return someNode(
    statement,
    (node) =>
      node.kind === "Call" &&
      node.callee.kind === "Attribute" &&
      /^(named_)?parameters$/.test(node.callee.attribute.id) &&
      node.callee.object.kind === "Name" &&
      node.callee.object.id === name,
  );
}

/** Whether a statement gives the model to what trains it: `Trainer(model=name)`, `trainer.fit(name)`, `prepare(name)`. */
function handsOver(statement: Statement, name: string): boolean {
  if (statement.kind === "FunctionDefinition" || statement.kind === "ClassDefinition") return false;
  return someNode(statement, (node) => {
    if (node.kind !== "Call" || !/^(\w*Trainer|fit|prepare|initialize)$/.test(calledName(node))) return false;
    return isGiven(node, name);
  });
}

/** `Trainer(model=name)`; Lightning's `Trainer().fit(name)` makes one that is not given the model. */
function makesTrainer(statement: Statement, name: string): boolean {
  return someNode(
    statement,
    (node) => node.kind === "Call" && /Trainer$/.test(calledName(node)) && isGiven(node, name),
  );
}

function isGiven({ positional, keywords }: Call, name: string): boolean {
  const given = [...positional, ...keywords.map(({ value }) => value)];
  return given.some((value) => value.kind === "Name" && value.id === name);
}

/** A frame as if the function had been called with nothing but its defaults. */
export function frameOf(interpreter: Interpreter, callee: FunctionDefinition): Frame {
  const made = interpreter.globals.variables.get(callee.name.id);
  const known =
    interpreter.undecorated.get(callee) ??
    (made instanceof FunctionValue && made.node === callee ? made : undefined);
  const frame = new Frame("function", known?.closure ?? interpreter.globals, known);
  interpreter.references.retain(frame);
  for (const parameter of callee.parameters) {
    const name = parameter.name.id;
    const otherwise = known?.defaults.get(name);
    const value = otherwise === undefined ? interpreter.unknown("parameter", parameter, { name }) : otherwise;
    frame.assign(interpreter.references, name, value);
  }
  return frame;
}

/** Whether a statement is a loop that trains: nothing before the model is made needs it. */
export function trains(statement: Statement): boolean {
  if (statement.kind !== "For" && statement.kind !== "While") return false;
  return someNode(
    statement,
    (node) =>
      node.kind === "Call" &&
      node.callee.kind === "Attribute" &&
      /^(backward|step)$/.test(node.callee.attribute.id),
  );
}
