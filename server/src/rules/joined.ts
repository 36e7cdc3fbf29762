/** Lists of tensors that are joined to one, for the rules about what piles up. */
import type { Call } from "../python/tree";
import type { RuleContext } from "./rule";

/** `torch.cat(outputs)` of a variable. */
export interface Join {
  readonly call: Call;
  readonly key: string;
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
      if (key !== undefined) joins.push({ call, key });
    }
  }
  return joins;
}
