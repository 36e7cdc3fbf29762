/**
 * `npm run fixes -- DIR… [--python PYTHON]`: every fix over a tree, each alone and all safe ones together, without writing
 * anything. Says where a fix leaves its finding, brings a new one, breaks the syntax (for CPython too, with `--python`) or
 * changes the text again when applied once more. Each DIR is a workspace whose imports are followed.
 */
import { spawnSync } from "node:child_process";
import path from "node:path";
import { checkText, fixText, textOf } from "../server/src/cli/checked-file";
import type { CheckedFile } from "../server/src/cli/checked-file";
import { documentOf, readLimit } from "../server/src/cli/document";
import { initializeParser } from "../server/src/python/parse";
import { parseModule } from "../server/src/python/parse";
import { applyEdits } from "../server/src/rules/fix";
import type { FixSafety } from "../server/src/rules/rule";
import { discoverFiles } from "../server/src/workspace/discover";
import { Disk, importResolver } from "../server/src/workspace/imports";
import { readParserBinaries } from "../server/src/workspace/parser-binaries";
import { readTextFile } from "../server/src/workspace/text";

/** A text before and after a fix, for CPython to compile. */
interface Change {
  readonly place: string;
  readonly before: string;
  readonly after: string;
}

async function main(): Promise<void> {
  const args = process.argv.slice(2);
  const folders = args.filter((arg, index) => arg !== "--python" && args[index - 1] !== "--python");
  const python = args.find((_arg, index) => args[index - 1] === "--python");
  await initializeParser(readParserBinaries());

  const counts = new Map<string, number>();
  const faults: string[] = [];
  const changes: Change[] = [];
  const disk = new Disk();
  const { files } = await discoverFiles(folders, { cwd: process.cwd(), extensions: [".py", ".ipynb"] });
  for (const file of files) {
    const result = await readTextFile(path.resolve(file), file, readLimit(file, undefined));
    const document = "problem" in result ? result : documentOf(file, result.file.text);
    if ("problem" in document) continue;
    const absolute = path.resolve(file);
    const root = folders.map((folder) => path.resolve(folder)).find((folder) => isBelow(absolute, folder));
    const options = { resolveImport: importResolver(absolute, { root, disk }) };
    const checked = checkText(file, document.text, options, undefined, document.form);
    if (!checked.findings.some(({ fixes }) => fixes.length > 0)) continue;
    faults.push(...faultsOfSingleFixes(checked, counts, changes), ...faultsOfAll(checked, changes));
  }
  if (python !== undefined) faults.push(...faultsByPython(python, changes));
  for (const fault of faults) console.log(fault);
  for (const [kind, count] of [...counts].sort()) console.log(`${String(count).padStart(5)}  ${kind}`);
  console.log(`${changes.length} changed texts, ${faults.length} faults`);
}

function faultsOfSingleFixes(checked: CheckedFile, counts: Map<string, number>, changes: Change[]): string[] {
  const before = textOf(checked);
  const faults: string[] = [];
  for (const finding of checked.findings) {
    const { line } = checked.source.positionAt(finding.span.start);
    for (const { safety, edits, title } of finding.fixes) {
      const kind = `${finding.rule} (${safety})`;
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      const place = `${checked.name}:${line + 1} ${kind} ${title.text.en}`;
      const after = applyEdits(before, edits);
      changes.push({ place, before: pythonOf(before, checked), after: pythonOf(after, checked) });
      faults.push(...faultsOfFix(checked, after, finding.rule, safety).map((fault) => `${place}: ${fault}`));
    }
  }
  return faults;
}

function faultsOfFix(checked: CheckedFile, after: string, rule: string, safety: FixSafety): string[] {
  const faults: string[] = [];
  if (errorsIn(after, checked) > errorsIn(textOf(checked), checked)) faults.push("breaks the syntax");
  const old = countsByRule(checked);
  const fresh = countsByRule(checkText(checked.name, after, checked.options, undefined, checked.form));
  if ((fresh.get(rule) ?? 0) >= (old.get(rule) ?? 0)) faults.push(`leaves its finding (${safety})`);
  for (const [other, count] of fresh) {
    if (other !== rule && count > (old.get(other) ?? 0)) faults.push(`brings ${other}`);
  }
  return faults;
}

function faultsOfAll(checked: CheckedFile, changes: Change[]): string[] {
  const before = textOf(checked);
  const { name, options, form } = checked;
  const once = textOf(fixText(name, before, options, undefined, "safe", form));
  const twice = textOf(fixText(name, once, options, undefined, "safe", form));
  const place = `${checked.name} all safe fixes`;
  changes.push({ place, before: pythonOf(before, checked), after: pythonOf(once, checked) });
  return once === twice ? [] : [`${place}: change the text once more`];
}

function countsByRule({ findings }: CheckedFile): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { rule } of findings) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  return counts;
}

/** The text that CPython can read: of notebooks that with the magics blanked. */
function pythonOf(text: string, { form }: CheckedFile): string {
  return form?.forParser(text) ?? text;
}

function errorsIn(text: string, checked: CheckedFile): number {
  return parseModule(pythonOf(text, checked)).module.errors.length;
}

function isBelow(file: string, folder: string): boolean {
  return file.startsWith(folder + path.sep);
}

const compiles = `
import ast, json, sys, warnings
warnings.simplefilter("ignore")
def parses(text):
    try:
        ast.parse(text)
        return True
    except (SyntaxError, ValueError):
        return False
for change in json.load(sys.stdin):
    if parses(change["before"]) and not parses(change["after"]):
        print(change["place"] + ": no longer Python for CPython")
`;

function faultsByPython(python: string, changes: readonly Change[]): string[] {
  const { stdout, stderr, status } = spawnSync(python, ["-c", compiles], {
    input: JSON.stringify(changes),
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  if (status !== 0) throw new Error(stderr);
  return stdout.split("\n").filter((line) => line !== "");
}

void main();
