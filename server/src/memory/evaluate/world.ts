/** What the evaluation of a file is given besides the file: other files, and how much work it may be. */
import type { Module } from "../../python/tree";

/** A file that an import leads to. */
export interface ImportedModule {
  readonly module: Module;
  /** Tells files apart, e.g. the path; given back as `from` when this file imports in turn. */
  readonly key: string;
}

/**
 * Finds the file behind an import: `path` is the dotted name, `level` the number of leading dots, `from` the key of the
 * importing file, undefined for the file that is analysed. Undefined when there is none. Pure for its caller: the same
 * question has the same answer while a file is analysed.
 */
export type ResolveImport = (
  path: string,
  level: number,
  from: string | undefined,
) => ImportedModule | undefined;

/** Steps that all evaluations of one file may take together: half a second of work. */
const stepsOfFile = 1_000_000;

/** Counts down over all programs of a file. */
export class Allowance {
  constructor(private left = stepsOfFile) {}

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
