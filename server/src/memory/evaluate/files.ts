/**
 * Other files of the workspace, as far as an import leads to them. Their top level is not run from start to end: the
 * statements that bind a name run when the name is first asked for, so that a large package costs what is used of it.
 * Spans stay in the file that is analysed, at the import or call that led away from it.
 */
import type { Statement } from "../../python/tree";
import { isUnknown, Unknown } from "../unknown";
import { assignUnknown } from "./assign";
import { effectsOf } from "./effects";
import { PythonError } from "./errors";
import { indexOf, keysOf, type FileIndex } from "./file-index";
import { Frame, mainName } from "./frame";
import type { Interpreter } from "./interpreter";
import { dictSet } from "./iteration";
import { answeredInstead } from "./library/pretrained-masks";
import {
  ClassValue,
  DictValue,
  FileModule,
  LibraryName,
  MethodWrapper,
  NativeFunction,
  type Value,
} from "./values";
import type { ImportedModule } from "../../python/resolve-import";

/** More files than this are not followed from one. */
const mostFiles = 300;

/** Parts of packages that `library/` has instead of their sources. */
const modelled =
  /^(torchvision\.(datasets|transforms)|lightning|pytorch_lightning|peft|huggingface_hub|accelerate|trl|bitsandbytes|deepspeed)(\.|$)/;

/** Of transformers the models and configurations are read, with what they are built from. */
const readOfTransformers = new RegExp(
  [
    "^transformers$",
    "^transformers\\.models(\\.(?!auto(\\.|$)).*)?$",
    "^transformers\\.(activations|pytorch_utils|modeling_layers|modeling_outputs|__version__)(\\..*)?$",
    "^transformers\\.(masking_utils|modeling_attn_mask_utils|cache_utils|modeling_rope_utils|loss|loss\\.loss_utils)(\\..*)?$",
    "^transformers\\.integrations(\\.sdpa_attention(\\..*)?)?$",
    "^transformers\\.(?!Auto|Pre[tT]rained|BitsAndBytes|Generation)\\w*(Model|Config|For[A-Z]\\w*)$",
  ].join("|"),
);

export class Files {
  private readonly loaded = new Map<string, FileModule>();
  private readonly sources = new Map<FileModule, ImportedModule>();
  private readonly begun = new WeakSet<Statement>();
  private readonly running: Statement[] = [];
  /** `sys.modules`. */
  readonly modules = new DictValue();

  constructor(private readonly interpreter: Interpreter) {
    this.modules.registry = {
      fill: (key) => {
        const file = typeof key === "string" ? this.named(key) : undefined;
        if (file !== undefined) dictSet(interpreter, this.modules, key, file);
      },
      doubt: () => this.modules.registry?.reason,
      reason: interpreter.unknown("name", undefined, { name: "sys.modules" }),
    };
  }

  /** The file behind a dotted name with `level` leading dots, as the running code would import it. */
  find(path: string, level: number): FileModule | undefined {
    const { interpreter } = this;
    const name = this.dottedName(path, level);
    if (this.isModelled(name)) return undefined;
    const found = interpreter.world.resolveImport?.(path, level, interpreter.frame.file);
    return found === undefined ? undefined : this.load(found, name);
  }

  /** What a script takes from there is known by what it does to shapes; the package's own files see its sources. */
  private isModelled(name: string): boolean {
    if (name.startsWith("transformers"))
      return !readOfTransformers.test(name) && /^transformers\./.test(name);
    return modelled.test(name) && !this.interpreter.frame.root.moduleName.startsWith("torchvision");
  }

  /** The name under which `library/` has what a relative import of the running file names. */
  modelledName(path: string, level: number): string | undefined {
    const name = this.dottedName(path, level);
    return this.isModelled(name) ? name : undefined;
  }

  /** A file of an installed library by its name, whether scripts would see it or not. */
  source(name: string): { readonly frame: Frame; readonly classNames: readonly string[] } | undefined {
    const found = this.interpreter.world.resolveImport?.(name, 0, undefined);
    const file = found === undefined ? undefined : this.load(found, name);
    if (found === undefined || file === undefined) return undefined;
    return {
      frame: file.frame,
      get classNames() {
        return found.module.body.flatMap((one) => (one.kind === "ClassDefinition" ? [one.name.id] : []));
      },
    };
  }

  /** The absolute name of what an import in the running file names. */
  private dottedName(path: string, level: number): string {
    if (level === 0) return path;
    const { file, root } = this.interpreter.frame;
    const parts = root.moduleName === mainName ? [] : root.moduleName.split(".");
    const up = file !== undefined && isPackage(file) ? level - 1 : level;
    const base = up === 0 ? parts : parts.slice(0, -up);
    return [...base, ...(path === "" ? [] : [path])].join(".");
  }

  /** A file by its `__name__`, as `sys.modules` has it; the analysed file too. */
  private named(name: string): FileModule | undefined {
    const { globals } = this.interpreter;
    if (name === mainName || name === "__main__") return new FileModule("", globals);
    for (const file of this.loaded.values()) if (file.frame.moduleName === name) return file;
    return undefined;
  }

  private load(source: ImportedModule, name: string): FileModule | undefined {
    const { key } = source;
    const known = this.loaded.get(key);
    if (known !== undefined) return known;
    if (this.loaded.size >= mostFiles) return undefined;
    const { interpreter } = this;
    const frame = new Frame("module", undefined, undefined, key);
    frame.moduleName = name;
    const file = new FileModule(key, frame);
    interpreter.references.retain(file);
    this.loaded.set(key, file);
    this.sources.set(file, source);
    frame.missing = (asked) => this.bind(file, asked);
    return file;
  }

  /** What the file's top level binds; the file is parsed for it. */
  private indexOf(file: FileModule): FileIndex | undefined {
    const module = this.sources.get(file)?.module;
    return module === undefined ? undefined : indexOf(module.body);
  }

  /** Whether the file's text has the word at all: cheaper than parsing it. */
  private mentions(file: FileModule, word: string): boolean {
    return this.sources.get(file)?.source.text.includes(word) === true;
  }

  /** `file.name`: what it binds, else the submodule of that name. */
  member(file: FileModule, name: string): Value | undefined {
    const { moduleName } = file.frame;
    if (name === "__name__") return moduleName;
    if (name === "__dict__") return this.namespaceOf(file);
    if (this.isModelled(`${moduleName}.${name}`)) return new LibraryName(`${moduleName}.${name}`);
    const value = file.frame.lookup(name);
    return value === undefined && isPackage(file.key) ? this.inFile(file, () => this.find(name, 1)) : value;
  }

  /** `file.__dict__`: `models.__dict__[arch](…)` binds what is asked for; which names there are is not gone through. */
  private namespaceOf(file: FileModule): DictValue {
    const { interpreter } = this;
    const dict = new DictValue();
    const name = `${file.frame.moduleName}.__dict__`;
    dict.registry = {
      fill: (key) => {
        const value = typeof key === "string" ? this.member(file, key) : undefined;
        if (value !== undefined) dictSet(interpreter, dict, key, value);
      },
      doubt: () => undefined,
      reason: interpreter.unknown("name", undefined, { name }),
    };
    return dict;
  }

  /** `from file import *` into a frame: what it brings hides what was there before. */
  importAll(frame: Frame, file: FileModule): void {
    for (const name of frame.variables.keys()) {
      const value = this.exported(file, name);
      if (value !== undefined) frame.assign(this.interpreter.references, name, value);
    }
    const before = frame.missing;
    frame.missing = (name) => this.exported(file, name) ?? before?.(name);
  }

  /** What a star import of the file brings under a name. */
  private exported(file: FileModule, name: string): Value | undefined {
    return name.startsWith("_") ? undefined : file.frame.lookup(name);
  }

  /** The file that is the source of a star import. */
  private starSource(file: FileModule, star: Statement): FileModule | undefined {
    return star.kind === "ImportFrom"
      ? this.inFile(file, () => this.find(star.module, star.level))
      : undefined;
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
    if (this.sources.get(file)?.isInstalled === true) {
      const [library = ""] = file.frame.moduleName.split(".");
      this.interpreter.assumed.set(`installed:${library}`, undefined);
    }
    const path = `${file.frame.moduleName}.${name}`;
    const instead = answeredInstead.get(path);
    if (instead !== undefined) return new NativeFunction(name, instead);
    const index = this.indexOf(file);
    const own = index?.binding.get(name);
    if (own === undefined)
      return name.startsWith("__") ? undefined : this.bindStar(file, name, index?.stars ?? []);
    for (const statement of own) this.run(file, statement);
    const value = file.frame.variables.get(name);
    if (value instanceof ClassValue) answerMethods(value, path);
    if (value instanceof DictValue && index?.stored.has(name) === true) this.makeRegistry(value, name);
    return value;
  }

  private readonly asked = new Set<string>();

  /** A name that a star import brings: the last one that has it counts; those named alike are looked at first. */
  private bindStar(file: FileModule, name: string, stars: readonly Statement[]): Value | undefined {
    const question = `${file.key} ${name}`;
    if (stars.length === 0 || this.asked.has(question)) return undefined;
    this.asked.add(question);
    try {
      for (const star of byAffinity(stars, name)) {
        const source = this.starSource(file, star);
        if (source !== undefined && !this.mayExport(source, name)) continue;
        if (source === undefined) this.run(file, star);
        const value = source === undefined ? file.frame.variables.get(name) : this.exported(source, name);
        if (value === undefined) continue;
        file.frame.assign(this.interpreter.references, name, value);
        return value;
      }
      return undefined;
    } finally {
      this.asked.delete(question);
    }
  }

  /** Packages pass on what their own star imports bring. */
  private mayExport(source: FileModule, name: string): boolean {
    return this.mentions(source, name) || this.mentions(source, "import *");
  }

  /** A dict that functions of its file store into: what other files would have put there is run when it is asked for. */
  private makeRegistry(dict: DictValue, name: string): void {
    const reason = this.interpreter.unknown("name", undefined, { name });
    dict.registry ??= {
      fill: (key) => {
        if (typeof key === "string") this.register(dict, key);
      },
      doubt: (key) => (typeof key === "string" && this.isRegistering(key) ? undefined : reason),
      reason,
    };
  }

  /** Runs what may file a key in a registry: definitions of that name or decorated with it, in files that are imported. */
  private register(dict: DictValue, key: string): void {
    const question = `[${key}]`;
    if (this.asked.has(question)) return;
    this.asked.add(question);
    try {
      for (const file of this.reachable(key)) {
        if (!this.mentions(file, key)) continue;
        for (const statement of this.indexOf(file)?.registrations.get(key) ?? []) this.run(file, statement);
        if (dict.entries.has(`s${key}`)) return;
      }
    } finally {
      this.asked.delete(question);
    }
  }

  /** Whether the statement that runs is the one that files the key: until it has, the key is not there. */
  private isRegistering(key: string): boolean {
    const { statement } = this.interpreter;
    const running = statement === undefined ? this.running : [...this.running, statement];
    return this.asked.has(`[${key}]`) || running.some((one) => keysOf(one).has(key));
  }

  /** The files that are imported, and those that they import; those named alike first. */
  private *reachable(name: string): Generator<FileModule> {
    const seen = new Set<FileModule>();
    const pending = [...this.loaded.values()];
    for (const file of pending) {
      seen.add(file);
      yield file;
    }
    for (let file = pending.shift(); file !== undefined; file = pending.shift()) {
      const imports = isPackage(file.key) ? (this.indexOf(file)?.imports ?? []) : [];
      for (const one of byAffinity(imports, name)) {
        for (const next of this.sourcesOf(file, one)) {
          if (seen.has(next)) continue;
          seen.add(next);
          pending.push(next);
          yield next;
        }
      }
    }
  }

  /** The files of the same package that an import statement leads to. */
  private sourcesOf(file: FileModule, statement: Statement): FileModule[] {
    if (statement.kind !== "ImportFrom" || statement.level === 0) return [];
    const { module, level, names } = statement;
    return this.inFile(file, () => {
      const source = this.find(module, level);
      const found = source === undefined ? [] : [source];
      if (module !== "") return found;
      return [...found, ...names.flatMap(({ name }) => (name === "*" ? [] : (this.find(name, level) ?? [])))];
    });
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
    this.running.push(statement);
    try {
      interpreter.hide(() => interpreter.execute([statement]));
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      for (const target of effectsOf([statement]).targets) {
        if (target.kind === "Name" && !file.frame.variables.has(target.id))
          assignUnknown(interpreter, target, error.unknown);
      }
    } finally {
      this.running.pop();
      interpreter.restore(state);
      Object.assign(interpreter, { skipForward, tracing });
      interpreter.library.optionalImports = optionalImports;
      interpreter.noted.clear();
      for (const [key, unknown] of noted) interpreter.noted.set(key, unknown);
    }
  }
}

/** Static methods of a class that are answered instead of run. */
function answerMethods(type: ClassValue, path: string): void {
  for (const name of type.attributes.keys()) {
    const instead = answeredInstead.get(`${path}.${name}`);
    if (instead !== undefined)
      type.attributes.set(name, new MethodWrapper("static", new NativeFunction(name, instead)));
  }
}

function isPackage(key: string): boolean {
  return /(^|[\\/])__init__\.py$/.test(key);
}

/** Import statements, those of modules whose name the other name begins with first, else the last first. */
function byAffinity(imports: readonly Statement[], name: string): Statement[] {
  const lower = name.toLowerCase();
  const affinity = (statement: Statement): number => {
    const last = statement.kind === "ImportFrom" ? (statement.module.split(".").at(-1) ?? "") : "";
    const plain = last.replaceAll("_", "").toLowerCase();
    return plain !== "" && (name.startsWith(last) || lower.startsWith(plain)) ? plain.length : 0;
  };
  return [...imports].reverse().sort((a, b) => affinity(b) - affinity(a));
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
  return isUnknown(found) ? new Unknown(found.reason, interpreter.ownSpan(span)) : found;
}
