/**
 * The one entrance: a parsed file and options in; findings, estimates and directives out. Pure; never throws on bad
 * source.
 */
import type { Estimates } from "./memory/estimate";
import type { TrainingSetup } from "./memory/setup";
import type { ParsedModule } from "./python/parse";
import type { Finding, Level } from "./rules/rule";

export interface AnalysisOptions {
  /** Rules to run; all of the registry when absent. Names, group names or `all`. */
  readonly select?: readonly string[];
  readonly ignore?: readonly string[];
  /** Overrides of the rules' own levels; `off` silences. */
  readonly levels?: Readonly<Record<string, Level | "off">>;
  /** Values that replace the header's, e.g. from the command line. */
  readonly setup?: TrainingSetup;
}

export interface Analysis {
  /** Sorted by offset, then rule. Suppressed findings are left out; unused suppressions are findings themselves. */
  readonly findings: readonly Finding[];
  /** Lazily evaluated. */
  readonly estimates: Estimates;
  /** Header over script over defaults. */
  readonly setup: TrainingSetup;
}

export function analyze(_parsed: ParsedModule, _options: AnalysisOptions = {}): Analysis {
  throw new Error("not written yet");
}
