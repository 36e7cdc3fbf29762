/** What all forms of the report have in common. */
import type { Message } from "../../messages/message";
import type { Level } from "../../rules/rule";
import type { FixedFile } from "../checked-file";
import type { Terminal } from "../reporter";

export interface Totals {
  readonly files: number;
  /** Files that were left out because nothing in them has changed. */
  readonly unchanged: number;
  readonly findings: number;
  /** How many of them have a safe fix. */
  readonly fixable: number;
  readonly fixed: number;
  /** What went wrong or was left out, in the order in which it was said. */
  readonly problems: readonly RunProblem[];
  /** False when something asked for could not be checked. */
  readonly succeeded: boolean;
  /** Only where there is a baseline. */
  readonly baseline: BaselineTotals | undefined;
}

export interface RunProblem {
  readonly message: Message;
  /** `note` says a limit, `error` that something asked for was not done. */
  readonly severity: "note" | "error";
}

export interface BaselineTotals {
  /** Findings left out because the baseline knows them. */
  readonly known: number;
  /** Entries of checked files that are found no longer. */
  readonly stale: number;
  /** Entries added to and taken from the file; `undefined` when it was only read. */
  readonly written: { readonly path: string; readonly added: number; readonly removed: number } | undefined;
}

/** One run's report. Its texts are written as they come: a file's when it is checked, the rest at the end. */
export interface Report {
  file(file: FixedFile): string;
  end(totals: Totals): string | Promise<string>;
}

export interface ReportContext {
  readonly terminal: Terminal;
  /** Findings of this level or a more serious one fail the run. */
  readonly failOn: Level;
  /** A path relative to the top of the repository, with `/`; absolute where the file lies outside. */
  readonly shared: (name: string) => string;
}

export type ReportMaker = (context: ReportContext) => Report;
