/**
 * Messages as lines, for places that do not wrap them: an editor's list of problems and its box under the line show a message
 * as long lines of their own. A sentence has its own line, and a long one is broken where it pauses.
 */

/** About what fits across an editor; Chinese characters are two columns wide. */
const widest = 90;

/** The text with line ends between its sentences, and at the colons and semicolons of long ones. */
export function inLines(text: string): string {
  return piecesOf(text, /[.!?。！？]/)
    .flatMap((sentence) =>
      columnsOf(sentence) <= widest ? [sentence] : joined(piecesOf(sentence, /[:;：；]/)),
    )
    .join("\n");
}

/** Cuts behind a mark that ends something: outside of code and brackets, and with space behind it where it is a Latin one. */
function piecesOf(text: string, mark: RegExp): string[] {
  const pieces: string[] = [];
  let start = 0;
  let depth = 0;
  let isCode = false;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === "`") isCode = !isCode;
    if (isCode) continue;
    if ("([{（“".includes(character)) depth += 1;
    else if (")]}）”".includes(character)) depth -= 1;
    if (depth > 0 || !mark.test(character)) continue;
    const isWide = character > "\u2000";
    if (!isWide && text.charAt(at + 1) !== " ") continue;
    pieces.push(text.slice(start, at + 1).trim());
    start = at + 1;
  }
  const rest = text.slice(start).trim();
  return rest === "" ? pieces : [...pieces, rest];
}

/** Pieces that fit on one line together stay together. */
function joined(pieces: readonly string[]): string[] {
  const lines: string[] = [];
  for (const piece of pieces) {
    const last = lines.at(-1);
    const longer = last === undefined ? piece : last + (/[：；]$/.test(last) ? "" : " ") + piece;
    if (last !== undefined && columnsOf(longer) <= widest) lines[lines.length - 1] = longer;
    else lines.push(piece);
  }
  return lines;
}

function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += character > "\u2000" ? 2 : 1;
  return columns;
}
