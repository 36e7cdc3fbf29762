/** Whether what a script loads still lives while it trains, for the rules about checkpoints. */
import type { Name, Node, Statement } from "../python/tree";
import { enclosingFunction } from "../python/walk";
import type { Resolver } from "../torch/resolve";
import type { RuleContext } from "./rule";

/** The first statement behind the loading, in the same function, that trains: itself, or through functions it calls. */
export function trainingBehind(torch: RuleContext["torch"], load: Statement): Statement | undefined {
  const { backwards, reach } = torch.provenance;
  const trainers = new Set<Node | undefined>(backwards.map(({ call }) => enclosingFunction(call)));
  const owner = enclosingFunction(load);
  const body = owner?.kind === "FunctionDefinition" ? owner.body : torch.module.body;
  return body.find((statement) => {
    if (
      statement.start < load.end ||
      statement.kind === "FunctionDefinition" ||
      statement.kind === "ClassDefinition"
    )
      return false;
    if (backwards.some(({ call }) => statement.start <= call.start && call.end <= statement.end)) return true;
    return [...reach.functionsFrom([statement])].some((called) => trainers.has(called));
  });
}

/** `del checkpoint`, `checkpoint = None`, or anything else that the name is given behind the loading. */
export function isLetGo(resolve: Resolver, holder: Name, load: Statement): boolean {
  return resolve.scopes.lookup(holder).some(({ kind, node }) => kind === "delete" || node.start > load.start);
}
