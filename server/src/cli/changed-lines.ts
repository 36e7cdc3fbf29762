/** Which lines of which files a `git diff` changed: read from its hunk headers. */
import type { LineRange } from "../directives/logical-lines";

export interface ChangedFile {
  /** Lines of the new side, from 0. */
  readonly lines: readonly LineRange[];
  /** The path that the old side had; `undefined` for a new file. */
  readonly before: string | undefined;
}

/** By path relative to the top of the repository. A file without added lines is absent. */
export type ChangedLines = ReadonlyMap<string, ChangedFile>;

const hunkHeader = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/**
 * Reads the output of `git diff --unified=0`, as bytes in Latin-1. Lines of a hunk are counted off, so that content
 * that looks like a header is not taken for one.
 */
export function parseDiff(diff: string): ChangedLines {
  const changed = new Map<string, { lines: LineRange[]; before: string | undefined }>();
  let before: string | undefined;
  let file: string | undefined;
  let inHunk = 0;
  for (const line of diff.split("\n")) {
    if (inHunk > 0 && /^[-+]/.test(line)) {
      inHunk--;
      continue;
    }
    if (line.startsWith("diff --git ")) file = undefined;
    else if (line.startsWith("--- ")) before = pathOf(line.slice("--- ".length), "a/");
    else if (line.startsWith("+++ ")) file = pathOf(line.slice("+++ ".length), "b/");
    const hunk = hunkHeader.exec(line);
    if (!hunk) continue;
    const [, removed = "1", start = "0", added = "1"] = hunk;
    inHunk = Number(removed) + Number(added);
    if (file === undefined || added === "0") continue;
    const from = Number(start) - 1;
    const found = changed.get(file) ?? { lines: [], before };
    found.lines.push({ from, to: from + Number(added) - 1 });
    changed.set(file, found);
  }
  return changed;
}

/**
 * The path behind `a/` or `b/`, quoted as in C where it has odd characters; behind a path with spaces stands a tab.
 * `undefined` for `/dev/null`.
 */
function pathOf(text: string, prefix: string): string | undefined {
  const path = text.startsWith('"') ? unquoted(text) : text.replace(/\t$/, "");
  if (!path.startsWith(prefix)) return undefined;
  return Buffer.from(path.slice(prefix.length), "latin1").toString("utf8");
}

const escapes: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

function unquoted(text: string): string {
  return text
    .replace(/^"|"\t?$/g, "")
    .replace(/\\([0-3][0-7]{2}|.)/g, (_, escape: string) =>
      escape.length === 3 ? String.fromCharCode(parseInt(escape, 8)) : (escapes[escape] ?? escape),
    );
}
