/**
 * `npm run findings -- DIR… [--rule NAME]… [--alone]`: every finding over trees (scripts and notebooks) with its source line,
 * grouped by rule, for reading by eye; at the end the counts, and any rule that broke. Each DIR is a workspace whose imports
 * are followed; with `--alone` every file stands for itself.
 */
import path from "node:path";
import { checkText } from "../server/src/cli/checked-file";
import { documentOf, readLimit } from "../server/src/cli/document";
import { render } from "../server/src/messages/message";
import { initializeParser } from "../server/src/python/parse";
import { discoverFiles } from "../server/src/workspace/discover";
import { Disk, importResolver } from "../server/src/workspace/imports";
import { readParserBinaries } from "../server/src/workspace/parser-binaries";
import { readTextFile } from "../server/src/workspace/text";

async function main(): Promise<void> {
  const isAlone = process.argv.includes("--alone");
  const args = process.argv.slice(2).filter((arg) => arg !== "--alone");
  const folders = args.filter((arg, index) => arg !== "--rule" && args[index - 1] !== "--rule");
  const select = args.filter((_arg, index) => args[index - 1] === "--rule");
  await initializeParser(readParserBinaries());

  const byRule = new Map<string, string[]>();
  const broken: string[] = [];
  const disk = new Disk();
  let read = 0;
  const { files } = await discoverFiles(folders, {
    cwd: process.cwd(),
    extensions: [".py", ".ipynb"],
  });
  for (const file of files) {
    const result = await readTextFile(path.resolve(file), file, readLimit(file, undefined));
    const document = "problem" in result ? result : documentOf(file, result.file.text);
    if ("problem" in document) continue;
    read += 1;
    const root = folders.find((folder) => isBelow(path.resolve(file), path.resolve(folder)));
    const { source, findings, failures } = checkText(
      file,
      document.text,
      {
        ...(select.length > 0 ? { select } : {}),
        resolveImport: isAlone ? undefined : importResolver(path.resolve(file), { root, disk }),
      },
      undefined,
      document.form,
    );
    for (const { rule, error } of failures) broken.push(`${rule} broke on ${file}: ${String(error)}`);
    for (const finding of findings) {
      const { line } = source.positionAt(finding.span.start);
      const entry = `${file}:${line + 1} [${finding.level}] ${source.lineText(line).trim()}\n    ${render(finding.message, "en")}`;
      const entries = byRule.get(finding.rule);
      if (entries) entries.push(entry);
      else byRule.set(finding.rule, [entry]);
    }
  }
  const rules = [...byRule].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [rule, entries] of rules) console.log(`\n## ${rule}\n${entries.join("\n")}`);
  console.log(`\n${files.length} files, ${read} read`);
  for (const [rule, entries] of rules) console.log(`${String(entries.length).padStart(5)}  ${rule}`);
  for (const line of broken) console.log(line);
}

function isBelow(file: string, folder: string): boolean {
  return file.startsWith(folder + path.sep);
}

void main();
