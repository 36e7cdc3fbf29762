/** Takes header lines apart: entries at commas, keys and values at the first equals sign. */
import { part, trimmed } from "./comments";
import type { Text } from "./comments";

const closing: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };
const ascii: Readonly<Record<string, string>> = {
  "，": ",",
  "＝": "=",
  "：": ":",
  "；": ";",
  "（": "(",
  "）": ")",
  "［": "[",
  "］": "]",
  "【": "[",
  "】": "]",
  "＜": "<",
  "＊": "*",
  "　": " ",
};

/** The punctuation of Chinese input methods as ASCII, sign for sign, so that offsets stay. */
export function withAsciiPunctuation(text: string): string {
  return text.replace(/[，＝：；（）［］【】＜＊　]/g, (sign) => ascii[sign] ?? sign);
}

export interface Pieces {
  readonly pieces: readonly Text[];
  /** A bracket that nothing closes, or a closing one that nothing opened. */
  readonly strayBracket: number | undefined;
}

/**
 * Splits at a separator outside brackets and quotes; pieces come without white space around them, empty ones too.
 * Where a bracket is never closed the rest is split before whatever looks like the next `key=`, so that one slip does
 * not swallow the line.
 */
export function split(line: Text, separator: "," | ";"): Pieces {
  const open: { readonly sign: string; readonly at: number }[] = [];
  const cuts: number[] = [];
  let stray: number | undefined;
  for (let at = 0; at < line.text.length; at++) {
    const sign = line.text.charAt(at);
    if (sign === "'" || sign === '"') {
      const end = line.text.indexOf(sign, at + 1);
      if (end > 0) at = end;
    } else if (closing[sign] !== undefined) {
      open.push({ sign: closing[sign], at });
    } else if (sign === ")" || sign === "]" || sign === "}") {
      if (open[open.length - 1]?.sign === sign) open.pop();
      else stray ??= line.start + at;
    } else if (sign === separator && open.length === 0) {
      cuts.push(at);
    }
  }
  const unclosed = open[0];
  if (unclosed === undefined) return { pieces: cutAt(line, cuts), strayBracket: stray };

  const nextKey = new RegExp(`${separator}(?=[ \\t]*[A-Za-z_-]+[ \\t]*=)`, "g");
  nextKey.lastIndex = unclosed.at;
  const recovered = [...line.text.matchAll(nextKey)]
    .map(({ index }) => index)
    .filter((at) => at > unclosed.at);
  return { pieces: cutAt(line, [...cuts, ...recovered]), strayBracket: line.start + unclosed.at };
}

/**
 * Splits an entry before each of `keys` that follows another value with nothing but a space between (`batch=4 loss=sum`),
 * outside brackets and quotes. The first piece is the entry itself, or what is left of it.
 */
export function splitAtKeys(entry: Text, keys: readonly string[]): readonly Text[] {
  const nextKey = new RegExp(`(?<![=\\s])\\s+(?=(?:${keys.join("|")})\\s*=)`, "gi");
  const outside = withoutNested(entry.text);
  // What looks like a key in a command line is a word of the script's.
  const words = /(?:^|\s)args\s*=/i.exec(outside);
  return cutAt(
    entry,
    [...outside.matchAll(nextKey)]
      .map(({ index }) => index)
      .filter((index) => words === null || index <= words.index),
  );
}

/** The text with everything inside brackets and quotes blanked, sign for sign. */
function withoutNested(text: string): string {
  const nested = /\([^()]*\)|\[[^[\]]*\]|\{[^{}]*\}|"[^"]*"|'[^']*'/g;
  let [before, blanked] = ["", text];
  while (before !== blanked) {
    before = blanked;
    blanked = blanked.replaceAll(nested, (inner) => "_".repeat(inner.length));
  }
  return blanked;
}

function cutAt(line: Text, cuts: readonly number[]): Text[] {
  const pieces: Text[] = [];
  let from = 0;
  for (const cut of [...cuts, line.text.length]) {
    pieces.push(trimmed(part(line, from, cut)));
    from = cut + 1;
  }
  return pieces;
}

/** `key = value` at the first equals sign; `value` is `undefined` when there is none. */
export function keyAndValue(entry: Text): { readonly key: Text; readonly value: Text | undefined } {
  const equals = entry.text.indexOf("=");
  if (equals < 0) return { key: entry, value: undefined };
  return { key: trimmed(part(entry, 0, equals)), value: trimmed(part(entry, equals + 1)) };
}
