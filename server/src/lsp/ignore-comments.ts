/** Edits that add a rule to the `# vram:` comments which hide findings. */
import { directiveComments } from "../directives/comments";
import { LogicalLines } from "../directives/logical-lines";
import type { LineRange } from "../directives/logical-lines";
import { parseSuppression } from "../directives/suppression-syntax";
import type { SuppressionComment, SuppressionWord } from "../directives/suppression-syntax";
import { isInHead } from "../directives/comments";
import type { ParsedModule } from "../python/parse";
import { insertAt } from "../rules/fix";
import type { TextEdit } from "../rules/rule";

/** Hides a rule on the logical line of an offset: in the comment there, behind the line, or on a line before it. */
export function ignoreOnLine(parsed: ParsedModule, rule: string, offset: number): TextEdit {
  const { module, source } = parsed;
  const range = new LogicalLines(module, source).containing(source.lineOf(offset));
  const existing = suppressions(parsed, "ignore").find(({ comment }) =>
    isAbout(parsed, comment.start, range),
  );
  const extended = existing && withRule(existing, rule);
  if (extended !== undefined) return extended;

  const lineEnd = source.lineStart(range.to) + source.lineText(range.to).length;
  const comment = module.comments.find(({ start }) => source.lineOf(start) === range.to);
  const hasDirective = directiveComments(module).some((directive) => directive.comment === comment);
  const goesOn = comment === undefined && source.lineText(range.to).endsWith("\\");
  if (!hasDirective && !goesOn) return insertAt(lineEnd, `  # vram: ignore[${rule}]`);
  const start = source.lineStart(range.from);
  return insertAt(start, `${source.indentationAt(start)}# vram: ignore[${rule}]${source.lineEnd}`);
}

/** Hides a rule in the whole file: in the comment that does so already, or on a new first line. */
export function ignoreInFile(parsed: ParsedModule, rule: string): TextEdit {
  const { module, source } = parsed;
  const existing = suppressions(parsed, "ignore-file").find(({ comment }) => isInHead(module, comment.start));
  const extended = existing && withRule(existing, rule);
  if (extended !== undefined) return extended;
  let line = 0;
  while (line < 2 && isForPythonItself(source.lineText(line))) line += 1;
  const offset = source.lineStart(line);
  const needsLineEnd = line > 0 && offset === source.text.length && !/[\r\n]$/.test(source.text);
  const comment = `# vram: ignore-file[${rule}]${source.lineEnd}`;
  return insertAt(offset, needsLineEnd ? source.lineEnd + comment : comment);
}

function suppressions({ module }: ParsedModule, word: SuppressionWord): SuppressionComment[] {
  return directiveComments(module)
    .flatMap((comment) => parseSuppression(comment) ?? [])
    .filter((suppression) => suppression.word === word && suppression.problem === undefined);
}

/** Behind one of the lines, or alone on the line before them. */
function isAbout({ module, source }: ParsedModule, offset: number, { from, to }: LineRange): boolean {
  const line = source.lineOf(offset);
  const ownLine = module.comments.some((comment) => comment.ownLine && source.lineOf(comment.start) === line);
  return ownLine ? line === from - 1 : from <= line && line <= to;
}

function withRule({ rules }: SuppressionComment, rule: string): TextEdit | undefined {
  const last = rules[rules.length - 1];
  return last && insertAt(last.start + last.text.length, `, ${rule}`);
}

/** The shebang and the encoding line (https://peps.python.org/pep-0263/) must stay where they are. */
function isForPythonItself(line: string): boolean {
  return line.startsWith("#!") || /^[ \t\f]*#.*?coding[:=][ \t]*[-\w.]+/.test(line);
}
