/** The places where gradients are computed: `loss.backward()` in all its forms. */
import { keyword } from "../../python/keyword";
import type { Call, Expression } from "../../python/tree";
import { gradientFunctions } from "../api-graph";
import type { Resolver } from "../resolve";

export interface BackwardCall {
  readonly call: Call;
  /** The values whose graph is walked. */
  readonly values: readonly Expression[];
  /** Whether the graph stays afterwards (`retain_graph=True`, `create_graph=True`). */
  readonly retains: "no" | "yes" | "unknown";
  /** True for `x.backward()` without a gradient: `x` must have one element. */
  readonly scalar: boolean;
}

/** The backward calls that a file writes out, in source order. */
export function backwardCalls(resolver: Resolver): BackwardCall[] {
  const names = ["backward", "manual_backward", "grad", "jacobian", "hessian", "vjp", "jvp"];
  const found: BackwardCall[] = [];
  for (const name of names) {
    for (const call of resolver.index.callsByName.get(name) ?? []) {
      const backward = asBackward(call, name, resolver);
      if (backward) found.push(backward);
    }
  }
  return found.sort((a, b) => a.call.start - b.call.start);
}

function asBackward(call: Call, name: string, resolver: Resolver): BackwardCall | undefined {
  const qualified = resolver.qualifiedName(call.callee);
  if (qualified !== undefined && gradientFunctions.has(qualified)) {
    const given = call.positional[0] ?? keyword(call, "outputs") ?? keyword(call, "tensors");
    return { call, values: given ? elements(given) : [], retains: retains(call), scalar: false };
  }
  if (name !== "backward" && name !== "manual_backward") return undefined;
  if (call.callee.kind !== "Attribute" || resolver.functionOf(call)) return undefined;
  const receiver = call.callee.object;
  const [argument] = call.positional;
  const given = argument ?? keyword(call, "loss");
  if (given && (name === "manual_backward" || takesLoss(receiver, resolver))) {
    return { call, values: [unscaled(given)], retains: retains(call), scalar: true };
  }
  if (receiver.kind === "Name" && receiver.id === "self") return undefined;
  const gradient = argument ?? keyword(call, "gradient");
  return { call, values: [unscaled(receiver)], retains: retains(call), scalar: gradient === undefined };
}

/** `accelerator.backward(loss)`, `engine.backward(loss)`: the receiver is no tensor. */
function takesLoss(receiver: Expression, resolver: Resolver): boolean {
  const role = resolver.roleOf(receiver);
  if (
    role === "framework" ||
    role === "engine" ||
    role === "scaler" ||
    role === "optimizer" ||
    role === "model"
  )
    return true;
  const name =
    receiver.kind === "Name" ? receiver.id : receiver.kind === "Attribute" ? receiver.attribute.id : "";
  return /accelerator|fabric|engine|booster|scaler|optimizer|trainer|^self$|ctx|strategy|plugin|backend/i.test(
    name,
  );
}

/** `loss` of `scaler.scale(loss)`. */
function unscaled(value: Expression): Expression {
  if (value.kind !== "Call" || value.callee.kind !== "Attribute" || value.callee.attribute.id !== "scale")
    return value;
  return value.positional[0] ?? value;
}

function elements(value: Expression): readonly Expression[] {
  return value.kind === "List" || value.kind === "Tuple" ? value.elements : [value];
}

function retains(call: Call): BackwardCall["retains"] {
  const asked = [keyword(call, "retain_graph"), keyword(call, "create_graph")].filter(
    (value) => value !== undefined,
  );
  if (asked.some((value) => value.kind === "Boolean" && value.value)) return "yes";
  return asked.some((value) => value.kind !== "Boolean" && value.kind !== "None") ? "unknown" : "no";
}
