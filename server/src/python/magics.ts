/**
 * IPython's lines in notebook cells (`%magic`, `!command`, `name?`), which are no Python. They count at the beginning of
 * a statement only: in brackets and strings a line may well begin with `%`.
 */

/** The text with such lines turned into comments of the same length: offsets stay. Linear in the text. */
export function blankMagics(text: string): string {
  let result = "";
  let state: State = { depth: 0, quote: "", joined: false };
  let isMagic = false;
  for (const [line] of text.matchAll(/[^\r\n]*(?:\r\n|\r|\n|$)/g)) {
    const content = line.replace(/[\r\n]+$/, "");
    const goesOn: boolean = isMagic && state.joined;
    isMagic = goesOn || (isAtStatement(state) && magic.test(content));
    if (isMagic) state = { ...state, joined: content.endsWith("\\") };
    else state = after(content, state);
    result += isMagic ? blanked(content) + line.slice(content.length) : line;
  }
  return result;
}

/** `%name`, `!command`, `?name`, `name?`, `x = %name` and `x = !command`. */
const magic = /^[ \t]*(?:[%!?]|[\w.]+\?{1,2}[ \t]*$|[\w.,* \t]+=[ \t]*(?:!|%[A-Za-z_]))/;

const cellMagic = /^\s*%%(\w+)/;

/** Cell magics whose lines are Python all the same. */
const pythonMagics: ReadonlySet<string> = new Set([
  "time",
  "timeit",
  "capture",
  "prun",
  "memit",
  "mprun",
  "debug",
]);

/** A cell as Python sees it; one in another language, or one that is written to a file, has nothing but comments. */
export function blankCell(text: string): string {
  const [, name] = cellMagic.exec(text) ?? [];
  if (name === undefined || pythonMagics.has(name)) return blankMagics(text);
  return text.replace(/[^\r\n]+/g, (line) => blanked(line));
}

/** Keeps the indentation; a statement stands in an indented line, so that a block is not left empty. */
function blanked(line: string): string {
  if (line === "") return "";
  const indentation = /^[ \t]*/.exec(line)?.[0] ?? "";
  const room = line.length - indentation.length;
  const filler = indentation !== "" && room >= 4 ? "pass" : "#";
  return room === 0 ? line : indentation + filler + " ".repeat(room - filler.length);
}

interface State {
  /** Open brackets. */
  readonly depth: number;
  /** The quotes of the string that a line begins in; `""` outside. */
  readonly quote: string;
  /** The line before ends in a backslash. */
  readonly joined: boolean;
}

function isAtStatement({ depth, quote, joined }: State): boolean {
  return depth === 0 && quote === "" && !joined;
}

const piece = /\\.|"""|'''|["'#()[\]{}]/g;

/** What is open at the end of a line of Python. */
function after(line: string, before: State): State {
  let { depth, quote } = before;
  for (const [found] of line.matchAll(piece)) {
    if (found.startsWith("\\")) continue;
    if (quote !== "") {
      if (found === quote) quote = "";
      else if (found.length === 3 && found.startsWith(quote)) quote = "";
    } else if (found === "#") break;
    else if (/^["']/.test(found)) quote = found;
    else depth = Math.max(0, depth + ("([{".includes(found) ? 1 : -1));
  }
  const joined = line.endsWith("\\");
  // A string in single quotes ends with its line, unless a backslash joins the next.
  if (quote.length === 1 && !joined) quote = "";
  return { depth, quote, joined };
}
