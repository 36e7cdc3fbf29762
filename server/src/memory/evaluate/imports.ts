/** Import statements: libraries by their dotted path; other files where the workspace has them. */
import type { Import, ImportFrom } from "../../python/tree";
import type { Interpreter } from "./interpreter";
import type { Completion } from "./statements";
import { importedMember } from "./files";
import { LibraryName, type FileModule } from "./values";

export function executeImport(interpreter: Interpreter, node: Import): Completion {
  for (const one of node.names) {
    const root = one.name.split(".")[0] ?? one.name;
    const file = fileOf(interpreter, one.alias === undefined ? root : one.name, 0);
    if (file !== undefined) {
      interpreter.frame.assign(interpreter.references, one.alias ?? root, file);
      continue;
    }
    requireInstalled(interpreter, root, node);
    interpreter.frame.assign(
      interpreter.references,
      one.alias ?? root,
      new LibraryName(one.alias === undefined ? root : one.name),
    );
  }
  return undefined;
}

export function executeImportFrom(interpreter: Interpreter, node: ImportFrom): Completion {
  const { library, references, frame } = interpreter;
  const root = node.module.split(".")[0] ?? node.module;
  const file = fileOf(interpreter, node.module, node.level);
  const module = node.level === 0 ? node.module : interpreter.files.modelledName(node.module, node.level);
  if (file !== undefined) {
    for (const one of node.names) {
      if (one.name === "*") interpreter.files.importAll(frame, file);
      else frame.assign(references, one.alias ?? one.name, importedMember(interpreter, file, one.name, node));
    }
    return undefined;
  }
  if (node.level === 0) requireInstalled(interpreter, root, node);
  for (const one of node.names) {
    if (one.name === "*") {
      if (module !== undefined)
        for (const [name, value] of library.starExports(module)) frame.assign(references, name, value);
      continue;
    }
    const known =
      module === undefined
        ? interpreter.unknown("import", node, { name: one.name })
        : library.attribute(module, one.name);
    frame.assign(
      references,
      one.alias ?? one.name,
      known === undefined ? new LibraryName(`${module ?? node.module}.${one.name}`) : known,
    );
  }
  return undefined;
}

/** The file of the workspace behind an import; packages that the evaluator knows are never looked for there. */
function fileOf(interpreter: Interpreter, path: string, level: number): FileModule | undefined {
  const root = path.split(".")[0] ?? path;
  if (level === 0 && root !== "torchvision" && interpreter.library.isKnownPackage(root)) return undefined;
  return interpreter.files.find(path, level);
}

/** Inside `try: import x except ImportError`, a package that is not known is taken to be absent, and that is said. */
function requireInstalled(interpreter: Interpreter, root: string, node: Import | ImportFrom): void {
  const { library } = interpreter;
  if (library.optionalImports === 0 || library.isKnownPackage(root)) return;
  interpreter.assumed.set(`not-installed:${root}`, interpreter.ownSpan(node));
  interpreter.raise("ModuleNotFoundError", `No module named '${root}'`, node);
}
