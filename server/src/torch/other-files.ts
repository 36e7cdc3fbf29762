/**
 * The other files of the workspace, as far as a question about the file at hand leads to them. Their facts are computed
 * on first use like its own and outlive it: they are kept with the tree of the file and used again as long as all files
 * that they rest on in turn are the same.
 */
import type { ImportedModule, ResolveImport } from "../python/resolve-import";
import type { Source } from "../python/source";
import type { Module } from "../python/tree";
import type { TorchFacts } from "./facts";
import type { FindFile } from "./imported";

export interface OtherFile {
  /** The path, as whoever finds files gives it. */
  readonly key: string;
  readonly source: Source;
  /** Parsed when they are first asked for. */
  readonly torch: TorchFacts;
  /** Other files, as this one would import them. */
  readonly find: FindFile;
  /** False when the text shows that the file gives nothing such a name, by itself or by a star import: no need to parse it. */
  mayDefine(name: string): boolean;
  /** False when a star import of the file does not bring the name, whatever it defines. */
  givesToStar(name: string): boolean;
}

/** Makes the facts of a file whose imports `find` leads to. */
export type MakeFacts = (module: Module, find: FindFile) => TorchFacts;

/** More files than this are not looked into for one. */
const mostFiles = 80;

/** By text: another text is another file. */
const kept = new WeakMap<Source, KeptFile>();

export class OtherFiles {
  private readonly opened = new Map<string, KeptFile>();
  private isFull = false;

  constructor(
    private readonly resolveImport: ResolveImport,
    private readonly makeFacts: MakeFacts,
  ) {}

  /** Whoever has the same object finds the same files; undefined where some were not looked into. */
  get answers(): object | undefined {
    return this.isFull ? undefined : (this.resolveImport.answers ?? this);
  }

  /** How the file that is analysed finds others. */
  readonly find: FindFile = (dotted, level) => this.from(undefined, dotted, level);

  from(key: string | undefined, dotted: string, level: number): OtherFile | undefined {
    const imported = this.sought(key, dotted, level);
    return imported && this.open(imported);
  }

  /** What an import leads to, without looking into it. */
  sought(key: string | undefined, dotted: string, level: number): ImportedModule | undefined {
    const imported = this.resolveImport(dotted, level, key, "workspace");
    return imported?.isInstalled === true ? undefined : imported;
  }

  private open(imported: ImportedModule): OtherFile | undefined {
    const known = this.opened.get(imported.key);
    if (known !== undefined) return known.file;
    if (this.opened.size >= mostFiles) {
      this.giveUp();
      return undefined;
    }
    const before = kept.get(imported.source);
    const file = before?.isValid(this) === true ? before : new KeptFile(imported, this.makeFacts);
    file.validFor = this.answers;
    file.files = this;
    this.opened.set(imported.key, file);
    // All folders without a file of their own share one empty tree.
    if (imported.source.text !== "") kept.set(imported.source, file);
    return file.file;
  }

  /** Facts that rest on what was not looked into are none for whoever could look into it. */
  private giveUp(): void {
    if (this.isFull) return;
    this.isFull = true;
    for (const file of this.opened.values()) file.validFor = undefined;
  }
}

interface Answer {
  readonly dotted: string;
  readonly level: number;
  readonly source: Source | undefined;
}

const starImport = /\bimport[\s\\]*\*/;

/** A list or tuple on a line of its own beginning; the names are looked for in what stands between the brackets. */
const exportList = /^__all__[ \t]*(?::[^=\n]*)?=[ \t]*[[(](?<names>[^\])]*)[\])][ \t]*(?:#.*)?$/m;
const exportedNames = /(["'])(?<name>\w+)\1|#.*|[\s,]+/g;

/**
 * What `__all__` names in a text that says it once, in one literal: all that a star import brings then
 * (https://docs.python.org/3/reference/simple_stmts.html#the-import-statement). `undefined` where there is none or where
 * it is computed or changed.
 */
function starExports(text: string): ReadonlySet<string> | undefined {
  const first = text.indexOf("__all__");
  if (first < 0 || text.includes("__all__", first + 1)) return undefined;
  const names = exportList.exec(text)?.groups?.["names"];
  if (names === undefined || names.replaceAll(exportedNames, "") !== "") return undefined;
  return new Set([...names.matchAll(exportedNames)].flatMap(({ groups }) => groups?.["name"] ?? []));
}

/** A file that is searched for a name before it is parsed: most files of a package that passes names on have another one. */
class LazyFile implements OtherFile {
  private knownTorch: TorchFacts | undefined;
  private hasStarImport: boolean | undefined;
  private knownExports: { readonly names: ReadonlySet<string> | undefined } | undefined;

  constructor(
    private readonly imported: ImportedModule,
    private readonly makeFacts: MakeFacts,
    readonly find: FindFile,
  ) {}

  get key(): string {
    return this.imported.key;
  }

  get source(): Source {
    return this.imported.source;
  }

  get torch(): TorchFacts {
    return (this.knownTorch ??= this.makeFacts(this.imported.module, this.find));
  }

  mayDefine(name: string): boolean {
    const { text } = this.source;
    return text.includes(name) || (this.hasStarImport ??= starImport.test(text));
  }

  givesToStar(name: string): boolean {
    if (this.knownExports === undefined) this.knownExports = { names: starExports(this.source.text) };
    const { names } = this.knownExports;
    return names === undefined ? !name.startsWith("_") : names.has(name);
  }
}

class KeptFile {
  readonly file: OtherFile;
  /** Whoever works with the file now: finds what it imports. */
  files: OtherFiles | undefined;
  /** Who finds the same files as those that the facts rest on. */
  validFor: object | undefined;
  /** What was asked about its imports so far: the facts rest on the answers. */
  private readonly answers = new Map<string, Answer>();

  /** The file is held as long as its facts are, so that nobody has to parse it again. */
  constructor(
    readonly imported: ImportedModule,
    makeFacts: MakeFacts,
  ) {
    this.file = new LazyFile(imported, makeFacts, (dotted, level) => this.find(dotted, level));
  }

  private find(dotted: string, level: number): OtherFile | undefined {
    const found = this.files?.from(this.file.key, dotted, level);
    const question = `${level} ${dotted}`;
    if (!this.answers.has(question)) this.answers.set(question, { dotted, level, source: found?.source });
    return found;
  }

  /** True when every file that the facts rest on would be found again, unchanged. */
  isValid(files: OtherFiles): boolean {
    const seen = new Set<KeptFile>();
    if (!this.restsOnSame(files, seen)) return false;
    // Files that import each other are valid together or not at all.
    for (const file of seen) file.validFor = files.answers;
    return true;
  }

  /** The same; files in `seen` are being asked already. */
  private restsOnSame(files: OtherFiles, seen: Set<KeptFile>): boolean {
    const { answers } = files;
    if ((answers !== undefined && this.validFor === answers) || seen.has(this)) return true;
    seen.add(this);
    return [...this.answers.values()].every(({ dotted, level, source }) => {
      const found = files.sought(this.file.key, dotted, level)?.source;
      if (found !== source) return false;
      return found === undefined || (kept.get(found)?.restsOnSame(files, seen) ?? found.text === "");
    });
  }
}
