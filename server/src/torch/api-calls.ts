/** The calls of a file by the canonical name of what they call, so that a pattern is tried on each name once. */
import type { Call, Expression } from "../python/tree";
import { bySource, push } from "./resolve-index";

export class ApiCalls {
  private known: ReadonlyMap<string, readonly Call[]> | undefined;

  /** `calls` in source order; `nameOf` gives the canonical name of a callee that has one. */
  constructor(
    private readonly calls: readonly Call[],
    private readonly nameOf: (callee: Expression) => string | undefined,
  ) {}

  /** The calls of what has a name that is `meant`, in source order, a call before those inside it. */
  of(meant: (name: string) => boolean): readonly Call[] {
    const groups = [...this.byName].flatMap(([name, calls]) => (meant(name) ? [calls] : []));
    const [only, other] = groups;
    return other === undefined ? (only ?? []) : groups.flat().sort(bySource);
  }

  private get byName(): ReadonlyMap<string, readonly Call[]> {
    return (this.known ??= this.grouped());
  }

  private grouped(): ReadonlyMap<string, readonly Call[]> {
    const byName = new Map<string, Call[]>();
    for (const call of this.calls) {
      const name = this.nameOf(call.callee);
      if (name !== undefined) push(byName, name, call);
    }
    return byName;
  }
}
