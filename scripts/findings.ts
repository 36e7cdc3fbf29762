/**
 * `npm run findings -- DIR… [--rule NAME]…`: every finding over a tree with its source line, grouped by rule, for reading
 * by eye; at the end the counts, and any rule that broke.
 */
import path from "node:path";
import { analyze, couldMatter } from "../server/src/analysis";
import { render } from "../server/src/messages/message";
import { initializeParser, parseModule } from "../server/src/python/parse";
import { discoverFiles } from "../server/src/workspace/discover";
import { readParserBinaries } from "../server/src/workspace/parser-binaries";
import { readTextFile } from "../server/src/workspace/text";

async function main(): Promise<void> {
  const args = process.argv.slice(2);
  const folders = args.filter((arg, index) => arg !== "--rule" && args[index - 1] !== "--rule");
  const select = args.filter((_arg, index) => args[index - 1] === "--rule");
  await initializeParser(readParserBinaries());

  const byRule = new Map<string, string[]>();
  const broken: string[] = [];
  let read = 0;
  const { files } = await discoverFiles(folders, { cwd: process.cwd() });
  for (const file of files) {
    const result = await readTextFile(path.resolve(file), file);
    if ("problem" in result || !couldMatter(result.file.text)) continue;
    read += 1;
    const parsed = parseModule(result.file.text);
    const { findings, failures } = analyze(parsed, select.length > 0 ? { select } : {});
    for (const { rule, error } of failures) broken.push(`${rule} broke on ${file}: ${String(error)}`);
    for (const finding of findings) {
      const { line } = parsed.source.positionAt(finding.span.start);
      const entry = `${file}:${line + 1} [${finding.level}] ${parsed.source.lineText(line).trim()}\n    ${render(finding.message, "en")}`;
      const entries = byRule.get(finding.rule);
      if (entries) entries.push(entry);
      else byRule.set(finding.rule, [entry]);
    }
    parsed.dispose();
  }
  const rules = [...byRule].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [rule, entries] of rules) console.log(`\n## ${rule}\n${entries.join("\n")}`);
  console.log(`\n${files.length} files, ${read} that could matter`);
  for (const [rule, entries] of rules) console.log(`${String(entries.length).padStart(5)}  ${rule}`);
  for (const line of broken) console.log(line);
}

void main();
