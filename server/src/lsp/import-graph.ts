/** Which files of a scan rest on which others: a change of one leads to those that import it. */
import type { ImportedFiles } from "../workspace/imports";

export class ImportGraph {
  private readonly imports = new Map<string, ImportedFiles>();

  /** What a file imports, by addresses; `undefined` where nothing was followed. */
  set(uri: string, imports: ImportedFiles | undefined): void {
    if (imports === undefined || (imports.found.length === 0 && imports.missing.length === 0))
      this.imports.delete(uri);
    else this.imports.set(uri, imports);
  }

  delete(uri: string): void {
    this.imports.delete(uri);
  }

  clear(): void {
    this.imports.clear();
  }

  /** The files that import one of these, or import one that does, and so on; without these themselves. */
  importersOf(changed: Iterable<string>): Set<string> {
    const importers = this.importersByFile();
    const waiting = [...changed];
    const seen = new Set(waiting);
    const found = new Set<string>();
    for (let uri = waiting.pop(); uri !== undefined; uri = waiting.pop()) {
      for (const importer of importers.get(uri) ?? []) {
        if (seen.has(importer)) continue;
        seen.add(importer);
        found.add(importer);
        waiting.push(importer);
      }
    }
    return found;
  }

  /** The files that looked for a module which one of these new files may be. */
  missing(added: Iterable<string>): Set<string> {
    const names = new Set([...added].flatMap(moduleNames));
    const isMissing = (dotted: string): boolean => dotted.split(".").some((part) => names.has(part));
    return new Set(
      [...this.imports].filter(([, { missing }]) => missing.some(isMissing)).map(([uri]) => uri),
    );
  }

  private importersByFile(): Map<string, string[]> {
    const importers = new Map<string, string[]>();
    for (const [uri, { found }] of this.imports) {
      for (const file of found) {
        const known = importers.get(file);
        if (known === undefined) importers.set(file, [uri]);
        else known.push(uri);
      }
    }
    return importers;
  }
}

/** Its own name, and its folder's, which is a package where it is an `__init__.py`. */
function moduleNames(uri: string): string[] {
  const [file = "", folder = ""] = uri.split("/").reverse();
  return [decodeURIComponent(file).replace(/\.pyi?$/, ""), decodeURIComponent(folder)];
}
