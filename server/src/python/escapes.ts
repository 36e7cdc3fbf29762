/** Escape sequences of string literals, as in Python's lexical analysis, 2.4.1.1. */

const SIMPLE: Readonly<Record<string, string>> = {
  "\n": "",
  "\\": "\\",
  "'": "'",
  '"': '"',
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|([^]))/g;

/**
 * Resolves the escapes of a string whose line ends are `\n`. What Python leaves as it is stays as it is; so do
 * characters by name (`\N{…}`), for want of Unicode's list of names.
 */
export function unescape(text: string, isBytes: boolean): string {
  return text.replace(
    ESCAPE,
    (whole: string, hex?: string, short?: string, long?: string, octal?: string, other?: string) => {
      if (hex !== undefined) return String.fromCharCode(parseInt(hex, 16));
      if (octal !== undefined) return String.fromCharCode(parseInt(octal, 8));
      if (other !== undefined) return SIMPLE[other] ?? whole;
      if (isBytes) return whole;
      const codePoint = parseInt(short ?? long ?? "", 16);
      return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : whole;
    },
  );
}
