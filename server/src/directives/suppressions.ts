/**
 * Suppressions: which findings the `# vram:` comments of a file hide, and which of the comments miss.
 */
import { suppressionMessages as texts } from "../messages/directives";
import { message } from "../messages/message";
import type { MessageText, MessageValue } from "../messages/message";
import type { ParsedModule } from "../python/parse";
import type { Source } from "../python/source";
import type { Span } from "../python/tree";
import type { Finding, Fix, FixSafety } from "../rules/rule";
import { levelOfDirectiveRule } from "./catalogue";
import { directiveComments, isInHead, spanOf } from "./comments";
import type { DirectiveComment, Text } from "./comments";
import { makeFix, shown } from "./context";
import { LogicalLines } from "./logical-lines";
import { nearest } from "./nearest";
import { parseSuppression } from "./suppression-syntax";
import type { SuppressionComment } from "./suppression-syntax";

/** What there is to know about rules here, where the registry is out of reach. */
export interface RuleNames {
  /** Every rule's name, those of the `# vram:` comments included. */
  readonly all: readonly string[];
  /** Whether a rule ran over the file: a suppression of one that did not is not called unused. */
  ran(rule: string): boolean;
}

/**
 * The findings that stay, in their order, and behind them `suppression-unused` and `suppression-unknown-rule` for
 * comments that hide nothing. `findings` are those of all rules, `budget-*` included.
 * In a file with syntax errors rules do not see everything: there no suppression is called unused.
 */
export function applySuppressions(
  parsed: ParsedModule,
  findings: readonly Finding[],
  rules: RuleNames,
): Finding[] {
  const comments = directiveComments(parsed.module).flatMap((comment) => parseSuppression(comment) ?? []);
  if (comments.length === 0) return [...findings];

  const reader = new SuppressionReader(parsed, rules, findings);
  for (const comment of comments) reader.read(comment);
  const { regions } = reader;
  const isWhole = parsed.module.errors.length === 0;
  const unused = (candidates: readonly Region[]) =>
    isWhole ? unusedFindings(candidates, parsed.source, rules) : [];

  const visible = findings.filter((finding) => !hide(finding, regions));
  // Comments about the suppressions themselves are judged last: they hide what the others' judgement reports.
  const [aboutSuppressions, ordinary] = partition(regions, ({ rule }) => rule.startsWith("suppression-"));
  const complaints = [...reader.complaints, ...unused(ordinary)];
  const visibleComplaints = complaints.filter((finding) => !hide(finding, regions));
  const late = unused(aboutSuppressions);
  return [...visible, ...visibleComplaints, ...late];
}

/** Where one comment hides one rule. */
interface Region {
  readonly rule: string;
  readonly written: Text;
  readonly suppression: SuppressionComment;
  readonly start: number;
  /** Exclusive; moved by an `enable`. */
  end: number;
  used: boolean;
}

class SuppressionReader {
  readonly regions: Region[] = [];
  readonly complaints: Finding[] = [];
  private lines: LogicalLines | undefined;

  constructor(
    private readonly parsed: ParsedModule,
    private readonly rules: RuleNames,
    private readonly findings: readonly Finding[],
  ) {}

  read(suppression: SuppressionComment): void {
    if (suppression.problem !== undefined) {
      const within = suppression.word === "enable" ? [] : this.rulesWithin(this.extent(suppression));
      this.complaints.push(problemFinding(suppression, within));
      return;
    }
    if (suppression.word === "ignore-file" && !isInHead(this.parsed.module, suppression.comment.start)) {
      const fixes = [removeComment(suppression.comment, this.parsed.source, "review")];
      this.complaints.push(
        complaint("suppression-unused", suppression.written, texts.misplacedIgnoreFile, {}, fixes),
      );
      return;
    }
    for (const written of suppression.rules) {
      const name = written.text.toLowerCase();
      if (this.rules.all.includes(name)) this.open(suppression, written, name);
      else this.complaints.push(unknownRule(suppression, written, this.rules, this.parsed.source));
    }
  }

  /** Rules that report something in a part of the file, sorted. */
  private rulesWithin({ start, end }: Span): string[] {
    const within = this.findings.filter(({ span }) => span.start >= start && span.start < end);
    return [...new Set(within.map(({ rule }) => rule))].sort();
  }

  private open(suppression: SuppressionComment, written: Text, rule: string): void {
    if (suppression.word === "enable") {
      this.close(suppression, written, rule);
      return;
    }
    const { start, end } = this.extent(suppression);
    this.regions.push({ rule, written, suppression, start, end, used: false });
  }

  private close(suppression: SuppressionComment, written: Text, rule: string): void {
    const region = this.regions.findLast(
      (candidate) =>
        candidate.rule === rule && candidate.suppression.word === "disable" && candidate.end === Infinity,
    );
    if (region !== undefined) {
      region.end = suppression.comment.start;
      return;
    }
    const fixes = [removeName(suppression, written, this.parsed.source)];
    this.complaints.push(complaint("suppression-unused", written, texts.unusedEnable, { rule }, fixes));
  }

  private extent({ comment, word }: SuppressionComment): Span {
    const { source } = this.parsed;
    if (word === "ignore-file") return { start: 0, end: Infinity };
    const line = source.lineOf(comment.start);
    if (word === "disable") return { start: source.lineStart(line), end: Infinity };
    this.lines ??= new LogicalLines(this.parsed.module, source);
    const range = comment.ownLine ? this.lines.fromOwnLine(line) : this.lines.containing(line);
    const end = range.to + 1 >= source.lineCount ? Infinity : source.lineStart(range.to + 1);
    return { start: source.lineStart(range.from), end };
  }
}

/** True when a region hides the finding; every region that does counts as used. */
function hide(finding: Finding, regions: readonly Region[]): boolean {
  let hidden = false;
  for (const region of regions) {
    if (region.rule !== finding.rule || finding.span.start < region.start || finding.span.start >= region.end)
      continue;
    region.used = true;
    hidden = true;
  }
  return hidden;
}

function unusedFindings(regions: readonly Region[], source: Source, rules: RuleNames): Finding[] {
  return regions
    .filter(({ used, rule }) => !used && rules.ran(rule))
    .map(({ suppression, written, rule }) =>
      complaint("suppression-unused", written, texts.unused, { rule }, [
        removeName(suppression, written, source),
      ]),
    );
}

function unknownRule(
  suppression: SuppressionComment,
  written: Text,
  rules: RuleNames,
  source: Source,
): Finding {
  const rule = shown(written.text);
  const near = nearest(written.text.replaceAll("_", "-"), rules.all);
  // Which of the two was meant is a guess: neither may happen unseen.
  const remove = removeName(suppression, written, source, "review");
  if (near === undefined)
    return complaint("suppression-unknown-rule", written, texts.unknownRule, { rule }, [remove]);
  return complaint("suppression-unknown-rule", written, texts.unknownRuleNearest, { rule, nearest: near }, [
    correct(written, near),
    remove,
  ]);
}

/** `within` are the rules that a suppression at this place could have meant. */
function problemFinding(suppression: SuppressionComment, within: readonly string[]): Finding {
  const { problem, word, written, comment } = suppression;
  if (problem === "unknown-word") {
    const values = { word: shown(written.text), nearest: word };
    return complaint("suppression-unknown-rule", written, texts.unknownWord, values, [
      correct(written, word),
    ]);
  }
  if (problem === "names-no-rule") {
    const fixes =
      within.length === 0 ? [] : [correct(namelessPart(suppression), `${word}[${within.join(", ")}]`)];
    return complaint("suppression-unknown-rule", written, texts.namesNoRule, { word }, fixes);
  }
  const values = { text: shown(comment.body.text), word };
  return complaint("suppression-unknown-rule", comment.body, texts.malformed, values, []);
}

/** `ignore` or `ignore[ ]` without what stands behind it. */
function namelessPart({ comment, written }: SuppressionComment): Text {
  const brackets = /^\s*\[(?:\s*\])?/.exec(comment.body.text.slice(written.text.length))?.[0] ?? "";
  return { text: written.text + brackets, start: written.start };
}

function complaint(
  rule: "suppression-unused" | "suppression-unknown-rule",
  at: Text,
  text: MessageText,
  values: Readonly<Record<string, MessageValue>>,
  fixes: readonly Fix[],
): Finding {
  return {
    rule,
    level: levelOfDirectiveRule(rule),
    span: spanOf(at),
    message: message(text, values),
    related: [],
    fixes,
  };
}

/** What was meant is a guess, and a right name hides something: it wants a look. */
function correct(written: Text, replacement: string): Fix {
  const title = message(texts.correct, { from: shown(written.text), to: replacement });
  return makeFix(title, "review", [{ ...spanOf(written), text: replacement }]);
}

/** Takes one rule out of the brackets; with the last one goes the comment. */
function removeName(
  suppression: SuppressionComment,
  written: Text,
  source: Source,
  safety: FixSafety = "safe",
): Fix {
  const { rules, comment } = suppression;
  if (rules.length <= 1) return removeComment(comment, source, safety);
  const index = rules.indexOf(written);
  const next = rules[index + 1];
  const previous = rules[index - 1];
  const end = written.start + written.text.length;
  const span =
    next !== undefined
      ? { start: written.start, end: next.start }
      : { start: previous === undefined ? written.start : previous.start + previous.text.length, end };
  const title = message(texts.removeRule, { rule: shown(written.text) });
  return makeFix(title, safety, [{ ...span, text: "" }]);
}

/** A comment changes nothing about the program: taking a useless one away is safe. Another tool's part of it stays. */
function removeComment(comment: DirectiveComment, source: Source, safety: FixSafety = "safe"): Fix {
  return makeFix(message(texts.removeComment), safety, [{ ...removal(comment, source), text: "" }]);
}

function removal(comment: DirectiveComment, source: Source): Span {
  const behind = source.text.slice(comment.end, comment.comment.end);
  if (behind.trim() !== "") {
    return { start: comment.start, end: comment.end + behind.length - behind.trimStart().length };
  }
  if (comment.ownLine) {
    const line = source.lineOf(comment.start);
    return { start: source.lineStart(line), end: source.lineStart(line + 1) };
  }
  const before = source.text.slice(source.lineStart(source.lineOf(comment.start)), comment.start);
  return { start: comment.start - (before.length - before.trimEnd().length), end: comment.comment.end };
}

function partition<Item>(items: readonly Item[], test: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(test), items.filter((item) => !test(item))];
}
