/**
 * Other files of the workspace, as far as an import leads to them. Their top level is not run from start to end: the
 * statements that bind a name run when the name is first asked for, so that a large package costs what is used of it.
 * Spans stay in the file that is analysed, at the import or call that led away from it.
 */
import type { Expression, Node, Statement } from "../../python/tree";
import { isUnknown } from "../unknown";
import { assignUnknown } from "./assign";
import { childrenOf } from "../../python/walk";
import { effectsOf } from "./effects";
import { PythonError } from "./errors";
import { Frame } from "./frame";
import type { Interpreter } from "./interpreter";
import { FileModule, type Value } from "./values";
import type { ImportedModule } from "../../python/resolve-import";

/** More files than this are not followed from one. */
const mostFiles = 150;

interface Index {
  readonly binding: ReadonlyMap<string, readonly Statement[]>;
  /** Those with `from … import *`. */
  readonly stars: readonly Statement[];
}

export class Files {
  private readonly loaded = new Map<string, FileModule>();
  private readonly indexes = new Map<FileModule, Index>();
  private readonly begun = new WeakSet<Statement>();

  constructor(private readonly interpreter: Interpreter) {}

  /** The file behind a dotted name with `level` leading dots, as the running code would import it. */
  find(path: string, level: number): FileModule | undefined {
    const { interpreter } = this;
    const found = interpreter.world.resolveImport?.(path, level, interpreter.frame.file);
    return found === undefined ? undefined : this.load(found);
  }

  private load({ module, key }: ImportedModule): FileModule | undefined {
    const known = this.loaded.get(key);
    if (known !== undefined) return known;
    if (this.loaded.size >= mostFiles) return undefined;
    const { interpreter } = this;
    interpreter.tick(module.body.length);
    const frame = new Frame("module", undefined, undefined, key);
    const file = new FileModule(key, frame);
    interpreter.references.retain(file);
    this.loaded.set(key, file);
    this.indexes.set(file, indexOf(module.body));
    frame.missing = (name) => this.bind(file, name);
    return file;
  }

  /** `file.name`: what it binds, else the submodule of that name. */
  member(file: FileModule, name: string): Value | undefined {
    const value = file.frame.lookup(name);
    return value === undefined ? this.inFile(file, () => this.find(name, 1)) : value;
  }

  /** `from file import *` into a frame. */
  importAll(frame: Frame, file: FileModule): void {
    const names = this.exports(file);
    for (const name of frame.variables.keys()) {
      const value = names.has(name) ? file.frame.lookup(name) : undefined;
      if (value !== undefined) frame.assign(this.interpreter.references, name, value);
    }
    const before = frame.missing;
    frame.missing = (name) => {
      const value = before?.(name);
      return value === undefined && names.has(name) ? file.frame.lookup(name) : value;
    };
  }

  /** The names that a star import of the file brings. */
  private exports(file: FileModule): ReadonlySet<string> {
    const names = new Set<string>();
    const seen = new Set<FileModule>();
    const pending = [file];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      const index = this.indexes.get(next);
      for (const name of index?.binding.keys() ?? []) if (!name.startsWith("_")) names.add(name);
      for (const star of index?.stars ?? []) {
        if (star.kind !== "ImportFrom") continue;
        const inner = this.inFile(next, () => this.find(star.module, star.level));
        if (inner !== undefined) pending.push(inner);
      }
    }
    return names;
  }

  private inFile<Result>(file: FileModule, ask: () => Result): Result {
    const outer = this.interpreter.frame;
    this.interpreter.frame = file.frame;
    try {
      return ask();
    } finally {
      this.interpreter.frame = outer;
    }
  }

  /** Runs what binds a name of the file, and gives its value. */
  private bind(file: FileModule, name: string): Value | undefined {
    const index = this.indexes.get(file);
    for (const statement of index?.binding.get(name) ?? index?.stars ?? []) this.run(file, statement);
    return file.frame.variables.get(name);
  }

  private run(file: FileModule, statement: Statement): void {
    if (this.begun.has(statement)) return;
    this.begun.add(statement);
    const { interpreter } = this;
    const state = interpreter.state();
    const { skipForward, tracing } = interpreter;
    const { optionalImports } = interpreter.library;
    const noted = [...interpreter.noted];
    interpreter.frame = file.frame;
    interpreter.skipForward = true;
    interpreter.tracing = false;
    interpreter.library.optionalImports = 0;
    try {
      interpreter.hide(() => interpreter.execute([statement]));
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      for (const target of effectsOf([statement]).targets) {
        if (target.kind === "Name" && !file.frame.variables.has(target.id))
          assignUnknown(interpreter, target, error.unknown);
      }
    } finally {
      interpreter.restore(state);
      Object.assign(interpreter, { skipForward, tracing });
      interpreter.library.optionalImports = optionalImports;
      interpreter.noted.clear();
      for (const [key, unknown] of noted) interpreter.noted.set(key, unknown);
    }
  }
}

const indexCache = new WeakMap<readonly Statement[], Index>();

function indexOf(body: readonly Statement[]): Index {
  const known = indexCache.get(body);
  if (known !== undefined) return known;
  const binding = new Map<string, Statement[]>();
  const stars: Statement[] = [];
  for (const statement of body) {
    for (const name of namesOf(statement)) {
      const before = binding.get(name);
      if (before === undefined) binding.set(name, [statement]);
      else before.push(statement);
    }
    if (statement.kind === "ImportFrom" && statement.names.some(({ name }) => name === "*"))
      stars.push(statement);
  }
  const index = { binding, stars };
  indexCache.set(body, index);
  return index;
}

/** The names that a statement of the top level binds or may change what they mean. */
function namesOf(statement: Statement): Set<string> {
  const names = new Set<string>();
  for (const target of effectsOf([statement]).targets) for (const name of rootsOf(target)) names.add(name);
  const pending: Node[] = [statement];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.kind === "FunctionDefinition" || node.kind === "ClassDefinition") continue;
    if (node.kind === "Import" || node.kind === "ImportFrom") {
      for (const { name, alias } of node.names) {
        const bound = alias ?? (node.kind === "Import" ? (name.split(".")[0] ?? name) : name);
        if (bound !== "*") names.add(bound);
      }
      continue;
    }
    pending.push(...childrenOf(node));
  }
  return names;
}

function rootsOf(target: Expression): string[] {
  const names: string[] = [];
  const pending: Expression[] = [target];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.kind === "Name") names.push(node.id);
    else if (node.kind === "Attribute" || node.kind === "Subscript") pending.push(node.object);
    else if (node.kind === "Call") pending.push(node.callee);
    else if (node.kind === "Starred") pending.push(node.value);
    else if (node.kind === "Tuple" || node.kind === "List") pending.push(...node.elements);
  }
  return names;
}

/** A member that an import names; what the file does not have is not known. */
export function importedMember(
  interpreter: Interpreter,
  file: FileModule,
  name: string,
  span: Statement,
): Value {
  const found = interpreter.files.member(file, name);
  if (found === undefined) return interpreter.unknown("import", span, { name });
  return isUnknown(found) ? interpreter.unknown("import", span, { name }) : found;
}
