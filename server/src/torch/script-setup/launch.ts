/** Calls that start processes or threads for a function of the script: `mp.spawn(worker, nprocs=n, args=(…))`. */
import type { Call, Expression, FunctionDefinition } from "../../python/tree";
import type { ScriptLaunch } from "../script-setup";
import type { Resolver } from "../resolve";
import { lastPart } from "../resolve-index";

/** Where a launcher takes the function and what it gives it; the process's number comes first where `passesRank`. */
interface Launcher {
  readonly callee: readonly [position: number, keyword: string];
  readonly given: readonly [position: number | undefined, keyword: string];
  readonly passesRank: boolean;
}

/**
 * By the last part of their name. Sources: https://docs.pytorch.org/docs/stable/multiprocessing.html#torch.multiprocessing.spawn.spawn,
 * https://huggingface.co/docs/accelerate/package_reference/launchers; `launch` is what detectron's descendants call theirs.
 */
const launchers: Readonly<Record<string, Launcher>> = {
  spawn: { callee: [0, "fn"], given: [1, "args"], passesRank: true },
  start_processes: { callee: [0, "fn"], given: [1, "args"], passesRank: true },
  Process: { callee: [1, "target"], given: [3, "args"], passesRank: false },
  notebook_launcher: { callee: [0, "function"], given: [1, "args"], passesRank: false },
  debug_launcher: { callee: [0, "function"], given: [1, "args"], passesRank: false },
  launch: { callee: [0, "main_func"], given: [undefined, "args"], passesRank: false },
};

/** The one call that launches a function; undefined where there is none, or several that may differ. */
export function launchOf(
  { index, scopes }: Resolver,
  target: FunctionDefinition,
): { readonly call: Call; readonly launch: ScriptLaunch } | undefined {
  const found = Object.entries(launchers).flatMap(([name, launcher]) =>
    (index.callsByName.get(name) ?? []).flatMap((call) => {
      const callee = argumentOf(call, launcher.callee);
      if (callee?.kind !== "Name" || lastPart(call.callee) !== name) return [];
      const [binding, other] = scopes.lookup(callee);
      if (binding?.node !== target || other !== undefined) return [];
      const given = argumentOf(call, launcher.given);
      return [{ call, launch: { callee, given, passesRank: launcher.passesRank } }];
    }),
  );
  return found.length === 1 ? found[0] : undefined;
}

function argumentOf(
  { positional, keywords }: Call,
  [position, keyword]: readonly [number | undefined, string],
): Expression | undefined {
  const named = keywords.find(({ name }) => name.id === keyword)?.value;
  return named ?? (position === undefined ? undefined : positional[position]);
}
