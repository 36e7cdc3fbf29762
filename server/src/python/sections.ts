/**
 * Where a text can be cut so that each part is parsed alone: before statements at the left edge. An edit then costs a
 * parse of its own part only, and what is half typed spoils no other part.
 */

import type { Statement } from "./tree";

/** A part that is shorter goes on over the next statement, unless that is a function or a class or this one is. */
const LEAST = 1_500;

/** What matters outside strings. */
const TOKENS = /"""|'''|["'#\\\n()[\]{}]/g;
/** What matters in a string, by its quotes. */
const IN_STRINGS: Readonly<Record<string, RegExp>> = {
  '"""': /\\[^{]|\{\{|\{|"""/g,
  "'''": /\\[^{]|\{\{|\{|'''/g,
  '"': /\\(?:\r\n|[^{])|\{\{|\{|["\n]/g,
  "'": /\\(?:\r\n|[^{])|\{\{|\{|['\n]/g,
};
const HAS_FIELDS = /[ft]r?$/i;

/** Statements that nothing inside brackets begins with: whoever types an opening one has not closed it yet. */
const NEVER_IN_BRACKETS =
  /(?:def|class|async[ \t]+def|import|while|with|try|return|raise|assert|del|pass|global)\b/y;
/** With what they decorate: a line inside brackets may begin with the operator. */
const DECORATORS =
  /(?:@[^\n]*(?:[([{]\r?\n(?:[ \t][^\n]*\n)*[)\]}][^\n]*)?\n(?:[ \t#][^\n]*\n|\r?\n)*)+(?:def|class|async[ \t]+def)\b/y;
const CONTINUES = /(?:else|elif|except|finally)\b/y;
const AT_LEFT_EDGE = /\n[^\s#)\]}]/g;
const DEFINES = /@|(?:def|class|async[ \t]+def)\b/y;

/** The offsets at which the parts of a text begin, the first of them 0. Takes `\n` and `\r\n` for line ends. */
export function sectionStarts(text: string): number[] {
  return new Scanner(text).starts();
}

/** A replacement field of an f-string: what follows its closing brace is string again. */
interface Field {
  readonly quotes: string;
  readonly depth: number;
}

/**
 * Whether a part might begin inside a top-level statement: the grammar reads `x =` with its value on the next line, which
 * Python does not. Looks at what stands at the left edge only; `sectionStarts` knows for sure.
 */
export function mayCutThrough(text: string, statements: readonly Statement[]): boolean {
  let index = 0;
  AT_LEFT_EDGE.lastIndex = 0;
  for (let found = AT_LEFT_EDGE.exec(text); found !== null; found = AT_LEFT_EDGE.exec(text)) {
    const offset = found.index + 1;
    while ((statements[index]?.end ?? Infinity) <= offset) index++;
    const statement = statements[index];
    if (statement === undefined) return false;
    if (offset > beginOf(statement) && !matchesAt(CONTINUES, text, offset)) return true;
  }
  return false;
}

/** Decorators stand at the left edge too. */
function beginOf(statement: Statement): number {
  return "definitionStart" in statement ? statement.definitionStart : statement.start;
}

/** Goes over a text and finds the lines that begin outside strings and brackets. */
class Scanner {
  private readonly cutter: Cutter;
  /** How many brackets are open, fields of strings included. */
  private depth = 0;
  private fields: Field[] = [];

  constructor(private readonly text: string) {
    this.cutter = new Cutter(text);
  }

  starts(): number[] {
    this.cutter.lineAt(0);
    TOKENS.lastIndex = 0;
    for (let found = TOKENS.exec(this.text); found !== null; found = TOKENS.exec(this.text)) {
      TOKENS.lastIndex = this.behind(found[0], TOKENS.lastIndex);
    }
    return this.cutter.starts;
  }

  /** Takes note of a token that ends at an offset, and says where to go on. */
  private behind(token: string, after: number): number {
    switch (token) {
      case "\n":
        this.lineAt(after);
        return after;
      case "#":
        // In a field it is part of a format.
        return this.fields.length > 0 ? after : lineEndFrom(this.text, after);
      case "\\":
        return afterContinuation(this.text, after);
      case "(":
      case "[":
      case "{":
        this.depth++;
        return after;
      case ")":
      case "]":
      case "}":
        return this.close(token, after);
      default: {
        const before = this.text.slice(Math.max(0, after - token.length - 2), after - token.length);
        return this.behindString(token, after, HAS_FIELDS.test(before));
      }
    }
  }

  private lineAt(offset: number): void {
    if (this.depth > 0 && this.leavesBrackets(offset)) {
      this.depth = 0;
      this.fields = [];
    }
    if (this.depth === 0) this.cutter.lineAt(offset);
  }

  private leavesBrackets(offset: number): boolean {
    return matchesAt(NEVER_IN_BRACKETS, this.text, offset) || matchesAt(DECORATORS, this.text, offset);
  }

  private close(token: string, after: number): number {
    const field = this.fields.at(-1);
    if (token === "}" && field?.depth === this.depth) {
      this.fields.pop();
      this.depth--;
      return this.behindString(field.quotes, after, true);
    }
    this.depth = Math.max(field?.depth ?? 0, this.depth - 1);
    return after;
  }

  /** Behind a string's closing quotes, or in its next field; at the line end where a string of one line is not closed. */
  private behindString(quotes: string, offset: number, hasFields: boolean): number {
    const tokens = IN_STRINGS[quotes];
    if (tokens === undefined) return offset;
    tokens.lastIndex = offset;
    for (let found = tokens.exec(this.text); found !== null; found = tokens.exec(this.text)) {
      if (found[0] === quotes) return tokens.lastIndex;
      if (found[0] === "\n") return found.index;
      if (found[0] === "{" && hasFields) {
        this.fields.push({ quotes, depth: ++this.depth });
        return tokens.lastIndex;
      }
    }
    return this.text.length;
  }
}

/** Is shown the lines that may begin a part, and decides which do. */
class Cutter {
  readonly starts = [0];
  private isDefinition = false;
  private isDecorated = false;

  constructor(private readonly text: string) {}

  lineAt(offset: number): void {
    const { text, starts } = this;
    if (offset >= text.length || /[\s#)\]}]/.test(text.charAt(offset)) || matchesAt(CONTINUES, text, offset))
      return;
    const begun = starts.at(-1) ?? 0;
    const defines = matchesAt(DEFINES, text, offset);
    if (!this.isDecorated) {
      if (offset > begun && (defines || this.isDefinition || offset - begun >= LEAST)) starts.push(offset);
      this.isDefinition = defines;
    }
    this.isDecorated = text.charAt(offset) === "@";
  }
}

function matchesAt(pattern: RegExp, text: string, offset: number): boolean {
  pattern.lastIndex = offset;
  return pattern.test(text);
}

function lineEndFrom(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  return end < 0 ? text.length : end;
}

/** Behind the line end that a backslash takes away, if one follows. */
function afterContinuation(text: string, offset: number): number {
  const lineEnd = text.charAt(offset) === "\r" ? offset + 1 : offset;
  return text.charAt(lineEnd) === "\n" ? lineEnd + 1 : offset;
}
