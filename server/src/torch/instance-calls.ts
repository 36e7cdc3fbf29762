/** Which calls run instances of which classes of a file: `model(x)`, `self.model(x)`, `self(x)`. */
import type { Call, ClassDefinition, Expression } from "../python/tree";
import type { Resolver } from "./resolve";
import { bySource, push } from "./resolve-index";

/** A call of which the answer may be another one later, as long as another question is open. */
export interface OpenCall {
  readonly call: Call;
  readonly owner: ClassDefinition | undefined;
}

/**
 * The calls whose class is known for good are not looked at again: a file with many models would otherwise be gone through
 * once for each of them.
 */
export class InstanceCalls {
  private readonly settled = new Map<ClassDefinition, Call[]>();
  private open: readonly Call[];

  /** `calls` in source order. */
  constructor(
    calls: readonly Call[],
    private readonly resolver: Pick<Resolver, "classOf" | "qualifiedName">,
  ) {
    this.open = calls.filter(
      (call) => isCallOfObject(call) && resolver.qualifiedName(call.callee) === undefined,
    );
  }

  /** Asks for those that are open, and gives those that still are. `isSettled`: what was asked for is known for good. */
  ask(isSettled: (expression: Expression) => boolean): readonly OpenCall[] {
    const asked = this.open.map((call) => ({ call, owner: this.resolver.classOf(call.callee) }));
    const open = asked.filter(({ call }) => !isSettled(call.callee));
    const still = new Set(open.map(({ call }) => call));
    for (const { call, owner } of asked) if (owner && !still.has(call)) push(this.settled, owner, call);
    this.open = [...still];
    return open;
  }

  /** In source order, a call before those inside it. */
  of(owner: ClassDefinition, open: readonly OpenCall[]): readonly Call[] {
    const calls = [...(this.settled.get(owner) ?? [])];
    for (const one of open) if (one.owner === owner) calls.push(one.call);
    return calls.sort(bySource);
  }
}

/** Not a call of what a call gives, nor of a method by name. */
function isCallOfObject({ callee }: Call): boolean {
  return callee.kind === "Name" || callee.kind === "Attribute" || callee.kind === "Subscript";
}
