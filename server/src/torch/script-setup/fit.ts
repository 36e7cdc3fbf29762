/** Lightning's `trainer.fit(model, …)`: which model is trained, and the way to the call. */
import type { Call } from "../../python/tree";
import type { ScriptFit, ScriptValue, SetupContext } from "../script-setup";
import { wayTo } from "./way";

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
