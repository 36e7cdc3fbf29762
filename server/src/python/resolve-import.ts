/** The question that leads from one file to another. */
import type { Source } from "./source";
import type { Module } from "./tree";

/** The text of a file that a script names, relative to the script's folder; undefined when there is none. */
export type ReadBeside = (name: string) => string | undefined;

/** A file that an import leads to. */
export interface ImportedModule {
  /** The same object as long as the file's text is the same; parsed when it is first asked for. */
  readonly module: Module;
  /** Its text, for lines and columns. */
  readonly source: Source;
  /** It lies in an installed package, not in the workspace. */
  readonly isInstalled?: true;
  /** Tells files apart, e.g. the path; given back as `from` when this file imports in turn. */
  readonly key: string;
}

/**
 * Finds the file behind an import: `path` is the dotted name, `level` the number of leading dots, `from` the key of the
 * importing file, undefined for the file that is analysed. `within` leaves installed packages out, which are large and slow
 * to search. Undefined when there is none. Pure for its caller: the same
 * question has the same answer while a file is analysed.
 */
export interface ResolveImport {
  (path: string, level: number, from: string | undefined, within?: "workspace"): ImportedModule | undefined;
  /** Functions with the same object here give the same answers to questions from files other than the analysed one. */
  readonly answers?: object | undefined;
}
