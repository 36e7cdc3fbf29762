import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { ResolveImport } from "../../server/src/python/resolve-import";
import { importResolver } from "../../server/src/workspace/imports";

export const fixturesFolder = path.join(__dirname, "../../test-fixtures");

export interface Fixture {
  /** From `test-fixtures/`, with forward slashes. */
  readonly name: string;
  readonly file: string;
  readonly text: string;
  /** Leads to the files around it, for those below `projects/`, whose folders are workspaces; others stand alone. */
  readonly resolveImport: ResolveImport | undefined;
}

/** All Python files below a folder of `test-fixtures/`, sorted; results of fixes (`*.fixed.py`, `*.review.py`) left out. */
export function fixtures(below = ""): Fixture[] {
  const folder = path.join(fixturesFolder, below);
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /(?<!\.fixed|\.review)\.py$/.test(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort()
    .map((file) => ({
      name: path.relative(fixturesFolder, file).split(path.sep).join("/"),
      file,
      text: readFileSync(file, "utf8"),
      resolveImport: importsOf(file),
    }));
}

function importsOf(file: string): ResolveImport | undefined {
  const [folder, project] = path.relative(fixturesFolder, file).split(path.sep);
  if (folder !== "projects" || project === undefined) return undefined;
  return importResolver(file, { root: path.join(fixturesFolder, folder, project) });
}

/** The golden result beside a fixture, if it has one. */
export function goldenBeside(fixture: Fixture, kind: "fixed" | "review"): string | undefined {
  const file = fixture.file.replace(/\.py$/, `.${kind}.py`);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}
