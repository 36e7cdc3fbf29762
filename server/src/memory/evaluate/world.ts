/** What the evaluation of a file is given besides the file: other files, and how much work it may be. */
import type { ResolveImport } from "../../python/resolve-import";

/** Steps that all evaluations of one file may take together: half a second of work. */
const stepsOfFile = 1_000_000;

/** Counts down over all programs of a file. */
export class Allowance {
  constructor(private left = stepsOfFile) {}

  /** More work was asked for than the file alone is given. */
  extend(steps: number): void {
    this.left += steps;
  }

  /** False once there is nothing left. */
  take(steps: number): boolean {
    this.left -= steps;
    return this.left >= 0;
  }
}

export interface World {
  readonly resolveImport?: ResolveImport | undefined;
  readonly allowance?: Allowance | undefined;
}
