/** Lists of tensors that are joined to one, for the rules about what piles up. */
import type { Call, Expression, Node } from "../python/tree";
import { ancestors } from "../python/walk";
import type { RuleContext } from "./rule";

/** `torch.cat(outputs)` of a variable. */
export interface Join {
  readonly call: Call;
  readonly key: string;
  /** It joins a list that the variable holds: `torch.cat(outputs["x"])`, `torch.cat(v) for v in outputs.values()`. */
  readonly ofPart: boolean;
}

const joining = /^torch\.(cat|concat|concatenate|stack|vstack|hstack|row_stack)$/;

/** All calls of a file that join what a list holds to one tensor. */
export function joinsIn({ resolve }: RuleContext["torch"]): readonly Join[] {
  const joins: Join[] = [];
  for (const name of ["cat", "concat", "concatenate", "stack", "vstack", "hstack"]) {
    for (const call of resolve.index.callsByName.get(name) ?? []) {
      const [first] = call.positional;
      if (first === undefined || !joining.test(resolve.qualifiedName(call.callee) ?? "")) continue;
      const key = resolve.keyOf(first);
      if (key !== undefined) joins.push({ call, key, ofPart: false });
      const whole = wholeOf(first, call);
      const wholeKey = whole && resolve.keyOf(whole);
      if (wholeKey !== undefined) joins.push({ call, key: wholeKey, ofPart: true });
    }
  }
  return joins;
}

/** `d` of `d["x"]`, and of `v` in a loop over `d.items()`, `d.values()` or `d`. */
function wholeOf(part: Expression, call: Call): Expression | undefined {
  if (part.kind === "Subscript") return part.object;
  if (part.kind !== "Name") return undefined;
  for (const at of ancestors(call)) {
    const bound = at.kind === "For" ? [at] : at.kind === "Comprehension" ? at.clauses : [];
    const loop = bound.find(({ target }) => binds(target, part.id));
    if (loop !== undefined) return containerOf(loop.iterable);
  }
  return undefined;
}

/** The variable is what the loop goes over, or the second of a pair: the value of an item. */
function binds(target: Node, name: string): boolean {
  const bound = target.kind === "Tuple" ? target.elements[1] : target;
  return bound?.kind === "Name" && bound.id === name;
}

/** `d` of `d.items()` and `d.values()`. */
function containerOf(iterable: Expression): Expression {
  if (iterable.kind !== "Call" || iterable.callee.kind !== "Attribute") return iterable;
  const { attribute, object } = iterable.callee;
  return /^(items|values)$/.test(attribute.id) ? object : iterable;
}
