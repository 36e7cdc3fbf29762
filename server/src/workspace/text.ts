/** Python files as text: decoded as Python would, written back byte for byte but for what changed. */
import { isUtf8 } from "node:buffer";
import { readFile, stat } from "node:fs/promises";
import { TextDecoder } from "node:util";
import { printable, problem, problemOf } from "./problem";
import type { FileProblem } from "./problem";
import { replaceFile } from "./replace-file";

/** Files over this many bytes are not checked unless another limit is given, and that is said. */
export const sizeLimit = 1024 * 1024;

export interface SourceEncoding {
  /** As in the coding comment, normalised; `utf-8` without one. */
  readonly name: string;
  readonly hasBom: boolean;
}

export interface DecodedText {
  /** Without the byte order mark; line ends as in the file. */
  readonly text: string;
  readonly encoding: SourceEncoding;
}

export interface TextFile extends DecodedText {
  readonly path: string;
  /** What the file held when it was read. */
  readonly bytes: Uint8Array;
}

export type ReadResult<Result> = { readonly file: Result } | { readonly problem: FileProblem };

/** Reads a file; `absolute` is where it lies, `shownPath` what messages call it. */
export async function readTextFile(
  absolute: string,
  shownPath = absolute,
  limit = sizeLimit,
): Promise<ReadResult<TextFile>> {
  let bytes: Buffer;
  try {
    const found = await stat(absolute);
    if (found.isDirectory()) return { problem: problem(shownPath, "isDirectory") };
    // A pipe or a device might never end.
    if (!found.isFile()) return { problem: problem(shownPath, "notAFile") };
    if (found.size > limit) return { problem: tooLarge(shownPath, found.size, limit) };
    bytes = await readFile(absolute);
  } catch (error) {
    return { problem: problemOf(shownPath, error) };
  }
  const decoded = decodePython(bytes, shownPath, limit);
  if ("problem" in decoded) return decoded;
  return { file: { ...decoded.file, path: absolute, bytes } };
}

/**
 * Bytes as Python reads them: UTF-8 with or without byte order mark, or the encoding of a coding comment on the first
 * two lines (PEP 263).
 */
export function decodePython(
  bytes: Uint8Array,
  shownPath: string,
  limit = sizeLimit,
): ReadResult<DecodedText> {
  if (bytes.length > limit) return { problem: tooLarge(shownPath, bytes.length, limit) };
  if (startsWith(bytes, [0xff, 0xfe]) || startsWith(bytes, [0xfe, 0xff]))
    return { problem: problem(shownPath, "utf16") };
  const nul = bytes.indexOf(0);
  if (nul >= 0) return { problem: problem(shownPath, "nulByte", { offset: nul }) };

  const hasBom = startsWith(bytes, [0xef, 0xbb, 0xbf]);
  const content = hasBom ? bytes.subarray(3) : bytes;
  const declared = hasBom ? undefined : declaredEncoding(content);
  const name = declared === undefined ? "utf-8" : normalised(declared);
  const text = decode(content, name);
  if (text === "unknown") {
    return { problem: problem(shownPath, "unknownEncoding", { encoding: printable(declared ?? name) }) };
  }
  if (text === undefined && declared === undefined) {
    const offset = firstInvalidByte(content) + (hasBom ? 3 : 0);
    return { problem: problem(shownPath, "notUtf8", { offset }) };
  }
  if (text === undefined) return { problem: problem(shownPath, "notInEncoding", { encoding: name }) };
  return { file: { text: text.decoded, encoding: { name, hasBom } } };
}

/** The bytes of a text in its file's encoding; `undefined` where it has none for a character. */
export function encodePython(text: string, encoding: SourceEncoding): Uint8Array | undefined {
  switch (encoding.name) {
    case "utf-8": {
      const content = Buffer.from(text, "utf8");
      return encoding.hasBom ? Buffer.concat([Uint8Array.of(0xef, 0xbb, 0xbf), content]) : content;
    }
    case "latin-1":
      return /^[\0-\xff]*$/.test(text) ? Buffer.from(text, "latin1") : undefined;
    case "ascii":
      return /^[\0-\x7f]*$/.test(text) ? Buffer.from(text, "latin1") : undefined;
    default:
      return undefined;
  }
}

/**
 * Replaces a file's text in one step: never half a file, with its mode and encoding, through links. Refuses when the
 * file is no longer what was read. Gives the problem, or `undefined` when all went well.
 */
export async function writeTextFile(
  file: TextFile,
  text: string,
  shownPath = file.path,
): Promise<FileProblem | undefined> {
  const bytes = encodePython(text, file.encoding);
  if (bytes === undefined) return problem(shownPath, "cannotEncode", { encoding: file.encoding.name });
  const replaced = await replaceFile(file.path, bytes, file.bytes);
  if (replaced === "done") return undefined;
  if (replaced === "changed") return problem(shownPath, "changedMeanwhile");
  return problem(shownPath, "notWritable", { code: replaced.code });
}

function tooLarge(shownPath: string, size: number, limit: number): FileProblem {
  const values = { size: sizeText(size), limit: sizeText(limit).replace(".0 ", " ") };
  return problem(shownPath, "tooLarge", values, "note");
}

/** `2.5 MiB`, `12.0 KiB`, `300 B`. */
function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 ** 2 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}

const codingComment = /^[ \t\f]*#.*?coding[:=][ \t]*([-_.a-zA-Z0-9]+)/;

/** The encoding that a comment on the first or second line names; on the second only behind a comment or an empty line. */
function declaredEncoding(bytes: Uint8Array): string | undefined {
  const [first = "", second = ""] = Buffer.from(bytes.subarray(0, 1024))
    .toString("latin1")
    .split(/\r\n|\r|\n/, 2);
  const named = codingComment.exec(first)?.[1];
  if (named !== undefined) return named;
  return /^[ \t\f]*(?:#.*)?$/.test(first) ? codingComment.exec(second)?.[1] : undefined;
}

/** Names as Python's tokenizer normalises them, for the encodings that can be written back. */
function normalised(name: string): string {
  const lower = name.toLowerCase().replaceAll("_", "-");
  if (/^(?:utf-?8|u8|cp65001)(?:-|$)/.test(lower)) return "utf-8";
  if (/^(?:latin-?1|iso-?8859-1|iso-latin-1|l1|8859|cp819)(?:-(?:unix|dos|mac))?$/.test(lower))
    return "latin-1";
  if (/^(?:us-)?ascii$|^646$/.test(lower)) return "ascii";
  return lower;
}

function decode(bytes: Uint8Array, name: string): { readonly decoded: string } | "unknown" | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (name === "utf-8") return isUtf8(buffer) ? { decoded: buffer.toString("utf8") } : undefined;
  if (name === "latin-1") return { decoded: buffer.toString("latin1") };
  if (name === "ascii")
    return buffer.every((byte) => byte < 0x80) ? { decoded: buffer.toString("latin1") } : undefined;
  if (/^utf-?(?:16|32|7)/.test(name)) return "unknown";
  let decoder: TextDecoder;
  try {
    decoder = new TextDecoder(name, { fatal: true });
  } catch {
    return "unknown";
  }
  try {
    return { decoded: decoder.decode(bytes) };
  } catch {
    return undefined;
  }
}

/** Where the first byte lies that is no UTF-8. */
function firstInvalidByte(bytes: Uint8Array): number {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  let offset = 0;
  let from = 0;
  for (;;) {
    const replaced = text.indexOf("\ufffd", from);
    if (replaced < 0) return offset;
    offset += Buffer.byteLength(text.slice(from, replaced));
    const isWritten = startsWith(bytes.subarray(offset), [0xef, 0xbf, 0xbd]);
    if (!isWritten) return offset;
    offset += 3;
    from = replaced + 1;
  }
}

function startsWith(bytes: Uint8Array, prefix: readonly number[]): boolean {
  return prefix.every((byte, index) => bytes[index] === byte);
}
