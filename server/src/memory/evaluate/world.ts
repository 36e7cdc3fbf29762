/** What the evaluation of a file is given besides the file: other files, and how much work it may be. */
import type { ReadBeside, ResolveImport } from "../../python/resolve-import";

/** Steps that all evaluations of one file may take together: half a second of work. */
const stepsOfFile = 1_000_000;

/** Counts down over all programs of a file. */
export class Allowance {
  /** Steps taken so far. */
  taken = 0;

  constructor(private most = stepsOfFile) {}

  /** More work was asked for than the file alone is given. */
  extend(steps: number): void {
    this.most += steps;
  }

  /** The file's step is asked for once more. */
  extendForFile(): void {
    this.extend(stepsOfFile);
  }

  /** False once there is nothing left. */
  take(steps: number): boolean {
    this.taken += steps;
    return this.taken <= this.most;
  }
}

export interface World {
  readonly resolveImport?: ResolveImport | undefined;
  /** Reads the configuration files that the script names. */
  readonly readBeside?: ReadBeside | undefined;
  /** The words behind the script's name on the command line; the script runs without any unless they are given. */
  readonly commandLine?: readonly string[] | undefined;
  readonly allowance?: Allowance | undefined;
}
