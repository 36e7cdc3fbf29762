/** Loops of few rounds, by what they go over: what each of them adds is no pile. */
import type { Call, Expression } from "../../python/tree";
import type { Resolver } from "../resolve";
import type { Loop } from "./reach";

/** A loop over a display, or over a variable that only ever holds displays. */
export function isShortLoop(loop: Loop, resolver: Resolver): boolean {
  if (loop.kind === "While") return false;
  const pending: Expression[] = [loop.iterable];
  for (let steps = 0; pending.length > 0; steps++) {
    const at = pending.pop();
    if (at === undefined || steps > 20) return false;
    if (at.kind === "List" || at.kind === "Tuple" || at.kind === "Set" || at.kind === "Dict") {
      if (at.kind !== "Dict" && at.elements.length === 0) return false; // filled elsewhere
      if (at.kind === "Dict" && at.entries.length === 0) return false;
    } else if (at.kind === "Name" || at.kind === "Attribute") {
      const values = resolver.valuesOf(at);
      if (values.length === 0) return false;
      pending.push(...values);
    } else if (at.kind === "Call") {
      const inner = shortArguments(at, resolver);
      if (inner === undefined) return false;
      pending.push(...inner);
    } else return false;
  }
  return true;
}

const shortRange = 4;

/** The arguments whose length decides that of `zip(a, b)`, `enumerate(a)`, `d.items()`; `[]` for a short `range(3)`. */
function shortArguments(call: Call, resolver: Resolver): readonly Expression[] | undefined {
  const name = resolver.qualifiedName(call.callee);
  const [first] = call.positional;
  if (name === "builtins.range") {
    const [length, ...others] = first?.kind === "Name" ? resolver.valuesOf(first) : [first];
    const short = others.length === 0 && length?.kind === "Integer" && length.value <= shortRange;
    return short && call.positional.length === 1 ? [] : undefined;
  }
  if (name === "builtins.enumerate" || name === "builtins.zip" || name === "builtins.reversed")
    return call.positional.slice(0, 1);
  const method = call.callee.kind === "Attribute" ? call.callee : undefined;
  return method && /^(items|values|keys)$/.test(method.attribute.id) ? [method.object] : undefined;
}
