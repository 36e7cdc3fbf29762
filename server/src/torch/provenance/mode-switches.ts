/** Switches of a model's mode: `model.eval()`, `model.train(False)`, `Net().cuda().eval()`. */
import type { Call, Expression, Statement } from "../../python/tree";
import { someNode } from "../../python/walk";
import { roleKeepingMethods } from "../api";

/** What `.train(…)` or `.eval()` sets; `undefined` for other calls and modes that are computed. */
export function trainingFlag(call: Call): boolean | undefined {
  if (call.callee.kind !== "Attribute") return undefined;
  const method = call.callee.attribute.id;
  if (method === "eval") return call.positional.length === 0 ? false : undefined;
  if (method !== "train") return undefined;
  const mode = call.positional[0] ?? call.keywords.find(({ name }) => name.id === "mode")?.value;
  if (mode === undefined) return true;
  return mode.kind === "Boolean" ? mode.value : true;
}

/** The last `.eval()` or `.train()` of `Net().cuda().eval()`. */
export function modeInChain(value: Expression): { call: Call; training: boolean } | undefined {
  let at = value;
  while (at.kind === "Call" && at.callee.kind === "Attribute") {
    const training = trainingFlag(at);
    if (training !== undefined) return { call: at, training };
    if (!roleKeepingMethods.has(at.callee.attribute.id)) return undefined;
    at = at.callee.object;
  }
  return undefined;
}

/** `net` of `net.cuda().eval()`. */
export function baseOfChain(call: Call): Expression {
  let at: Expression = call;
  while (at.kind === "Call" && at.callee.kind === "Attribute") at = at.callee.object;
  return at;
}

/** True when a statement, or one inside it, calls `.train()`. */
export function switchesToTraining(statement: Statement): boolean {
  return someNode(statement, (node) => node.kind === "Call" && trainingFlag(node) === true);
}
