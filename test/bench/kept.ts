/**
 * How much of a file outlives its check. V8 finds young garbage cheaply unless something old points to it, dead or not: a
 * module's `WeakMap`, or what V8 makes for an object literal with getters or for a generator function inside a function.
 * One such object a file, and its tree lives until the next full collection and is copied on the way.
 */
import v8 from "node:v8";
import { analyze } from "../../server/src/analysis";
import { parseModule } from "../../server/src/python/parse";

export interface Kept {
  /** By how much the old generation grows with each check, young collections only. */
  readonly bytes: number;
  readonly textLength: number;
}

/** Needs `--expose-gc`, `--no-opt` and `--no-maglev`: machine code that V8 makes on the way is old too. */
export function keptPerCheck(text: string): Kept {
  for (let warm = 0; warm < 30; warm++) checkAndCollect(text);
  collect("major");
  const checks = 10;
  const before = oldBytes();
  for (let count = 0; count < checks; count++) checkAndCollect(text);
  return { bytes: (oldBytes() - before) / checks, textLength: text.length };
}

function checkAndCollect(text: string): void {
  check(text);
  // What survives two of them counts as old.
  collect("minor");
  collect("minor");
}

/** A function of its own, so that no variable of whoever collects holds the file. */
function check(text: string): void {
  const parsed = parseModule(text);
  analyze(parsed);
}

function collect(type: "minor" | "major"): void {
  if (global.gc === undefined) throw new Error("run with --expose-gc");
  (global.gc as (options: { type: string }) => void)({ type });
}

function oldBytes(): number {
  const spaces = v8.getHeapSpaceStatistics();
  return spaces.find(({ space_name }) => space_name === "old_space")?.space_used_size ?? 0;
}
