/** Which lines of which files a `git diff` changed: read from its hunk headers. */
import type { LineRange } from "../directives/logical-lines";

/** Lines of the new side, from 0, by path relative to the top of the repository. A file without added lines is absent. */
export type ChangedLines = ReadonlyMap<string, readonly LineRange[]>;

const hunkHeader = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/**
 * Reads the output of `git diff --unified=0`, as bytes in Latin-1. Lines of a hunk are counted off, so that content
 * that looks like a header is not taken for one.
 */
export function parseDiff(diff: string): ChangedLines {
  const changed = new Map<string, LineRange[]>();
  let file: string | undefined;
  let inHunk = 0;
  for (const line of diff.split("\n")) {
    if (inHunk > 0 && /^[-+]/.test(line)) {
      inHunk--;
      continue;
    }
    if (line.startsWith("diff --git ")) file = undefined;
    else if (line.startsWith("+++ ")) file = newPath(line.slice("+++ ".length));
    const hunk = hunkHeader.exec(line);
    if (!hunk) continue;
    const [, removed = "1", start = "0", added = "1"] = hunk;
    inHunk = Number(removed) + Number(added);
    if (file === undefined || added === "0") continue;
    const from = Number(start) - 1;
    const ranges = changed.get(file) ?? [];
    ranges.push({ from, to: from + Number(added) - 1 });
    changed.set(file, ranges);
  }
  return changed;
}

/** `b/path`, quoted as in C where it has odd characters; behind a path with spaces stands a tab. */
function newPath(text: string): string | undefined {
  const path = text.startsWith('"') ? unquoted(text) : text.replace(/\t$/, "");
  return path.startsWith("b/") ? Buffer.from(path.slice(2), "latin1").toString("utf8") : undefined;
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
