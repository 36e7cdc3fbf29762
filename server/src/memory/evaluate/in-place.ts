/**
 * Evaluates an expression of the script where it stands, e.g. `Net(args.width)` inside `main()`: the statements before it
 * in its function are run first, parameters taking their defaults.
 */
import type { Expression, FunctionDefinition, Node, Statement } from "../../python/tree";
import { isUnknown } from "../unknown";
import { assignUnknown } from "./assign";
import { childrenOf } from "./children";
import { effectsOf } from "./effects";
import { Frame } from "./frame";
import type { Interpreter } from "./interpreter";
import { FunctionValue, type Value } from "./values";

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
function precedingIn(holder: Node, child: Node): Statement[] {
  for (const block of blocksOf(holder)) {
    const at = block.findIndex((statement) => statement === child);
    if (at >= 0) return block.slice(0, at);
  }
  return [];
}

function blocksOf(node: Node): (readonly Statement[])[] {
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

/** The value of an expression of the file, evaluated in the function (or top-level block) it stands in. */
export function evaluateInPlace(
  interpreter: Interpreter,
  expression: Expression,
  allowance: () => void,
): Value {
  const { callee, before } = pathTo(expression);
  const outer = interpreter.frame;
  const frame = callee === undefined ? interpreter.globals : frameOf(interpreter, callee);
  interpreter.frame = frame;
  interpreter.skipForward = true;
  try {
    for (const statement of before.flat()) {
      if (trains(statement)) continue;
      allowance();
      const fault = interpreter.guard(() => void interpreter.execute([statement]));
      if (!isUnknown(fault)) continue;
      for (const target of effectsOf([statement]).targets) {
        if (target.kind === "Name") assignUnknown(interpreter, target, fault);
      }
    }
    interpreter.skipForward = false;
    interpreter.noted.clear();
    allowance();
    return interpreter.guard(() => {
      const value = interpreter.evaluate(expression);
      interpreter.references.retain(value);
      return value;
    });
  } finally {
    interpreter.skipForward = false;
    interpreter.frame = outer;
  }
}

/** A frame as if the function had been called with nothing but its defaults. */
function frameOf(interpreter: Interpreter, callee: FunctionDefinition): Frame {
  const made = interpreter.globals.variables.get(callee.name.id);
  const known = made instanceof FunctionValue && made.node === callee ? made : undefined;
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
function trains(statement: Statement): boolean {
  if (statement.kind !== "For" && statement.kind !== "While") return false;
  const pending: Node[] = [statement];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.kind === "Call" && node.callee.kind === "Attribute") {
      if (node.callee.attribute.id === "backward" || node.callee.attribute.id === "step") return true;
    }
    pending.push(...childrenOf(node));
  }
  return false;
}
