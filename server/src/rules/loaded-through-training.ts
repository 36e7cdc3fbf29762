/** Whether what a script loads still lives while it trains, for the rules about checkpoints. */
import type { Name, Node, Statement } from "../python/tree";
import { enclosingFunction, isWithin } from "../python/walk";
import type { Resolver } from "../torch/resolve";
import { callsWithin } from "../torch/resolve-index";
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
    if (backwards.some(({ call }) => isWithin(call, statement))) return true;
    if (![...reach.functionsFrom([statement])].some((called) => trainers.has(called))) return false;
    return !onlyEvaluates(torch, statement, trainers);
  });
}

/** `test(loader)` or `run_epoch(test_loader, mode="test")`: of what could train, everything is called to evaluate. */
function onlyEvaluates(
  { provenance, resolve }: RuleContext["torch"],
  statement: Statement,
  trainers: ReadonlySet<Node | undefined>,
): boolean {
  const { withoutBackward, reach } = provenance;
  if (withoutBackward.size === 0) return false;
  return [...callsWithin(resolve.index, statement)].every((call) => {
    if (withoutBackward.has(call)) return true;
    return ![...reach.functionsFrom([call])].some((called) => trainers.has(called));
  });
}

/** `del checkpoint`, `checkpoint = None`, or anything else that the name is given behind the loading. */
export function isLetGo(resolve: Resolver, holder: Name, load: Statement): boolean {
  return resolve.scopes.lookup(holder).some(({ kind, node }) => kind === "delete" || node.start > load.start);
}
