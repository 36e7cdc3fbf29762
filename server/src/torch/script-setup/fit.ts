/** Lightning's `trainer.fit(model, …)`: which model is trained, and the way to the call. */
import type { Call, FunctionDefinition, Lambda, Node } from "../../python/tree";
import { enclosingFunction } from "../../python/walk";
import type { ScriptFit, ScriptValue, ScriptWay, SetupContext } from "../script-setup";

/** Callers that are followed from the call to where the script begins. */
const maximalDepth = 4;

/** The only call that trains a model by its `training_step`; undefined where several do, or the model steps by itself. */
export function fitOf(context: SetupContext): ScriptValue<ScriptFit> | undefined {
  const [call, other] = fitCalls(context);
  if (call === undefined || other !== undefined) return undefined;
  const model = context.constants.argument(call, "model", 0);
  const owner = model && context.resolver.objectOf(model)?.classDefinition;
  if (owner !== undefined && context.frameworks.ofClass(owner)?.name === "lightning-manual") return undefined;
  return { value: { ...wayTo(context, call), call }, span: call };
}

/** The calls of `fit` on a Lightning trainer, in source order. */
export function fitCalls({ resolver, frameworks }: SetupContext): readonly Call[] {
  return (resolver.index.callsByName.get("fit") ?? []).filter(
    ({ callee }) => callee.kind === "Attribute" && frameworks.ofObject(callee.object)?.name === "lightning",
  );
}

/** Where the script begins, and the calls that lead to a node; a function with several callers is a beginning itself. */
export function wayTo({ resolver }: SetupContext, node: Node): ScriptWay {
  const through: { call: Call; target: FunctionDefinition | Lambda }[] = [];
  let at = node;
  for (let depth = 0; depth < maximalDepth; depth++) {
    const around = enclosingFunction(at);
    if (around === undefined) return { root: undefined, through };
    const callers = around.kind === "FunctionDefinition" ? resolver.callsTo(around) : [];
    const [caller, other] = callers.filter((call) => resolver.functionOf(call) === around);
    if (caller === undefined || other !== undefined) return { root: around, through };
    through.unshift({ call: caller, target: around });
    at = caller;
  }
  return { root: enclosingFunction(at), through };
}
