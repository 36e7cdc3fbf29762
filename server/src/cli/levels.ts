/** Levels of findings as the command line orders and names them. */
import type { Level } from "../rules/rule";

/** From the most to the least serious. */
export const levels = ["error", "warning", "information", "hint"] as const satisfies readonly Level[];

/** True when a level is as serious as another or more so. */
export function isAtLeast(level: Level, other: Level): boolean {
  return levels.indexOf(level) <= levels.indexOf(other);
}
