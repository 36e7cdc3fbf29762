/** The patterns of settings files: relative to the folder of the file, with `/` on every system. */
import picomatch from "picomatch";

export interface PathPattern {
  readonly text: string;
  /** Of a path relative to the folder, with `/`: true for what the pattern names and for everything below it. */
  matches(relative: string): boolean;
}

/**
 * A pattern without a slash names files and folders at any depth, one with a slash stands for a place: `build`,
 * `*_test.py`, `/scripts`, `src/legacy/**`. `undefined` for one that cannot mean anything: empty, negated, leading
 * out of the folder, absolute on Windows, with a bracket that is not closed or a range that runs backwards.
 */
export function pathPattern(text: string): PathPattern | undefined {
  const bare = text.trim().replaceAll("\\", "/").replace(/^\.\//, "").replace(/\/+$/, "");
  if (bare === "" || bare === "." || /^!/.test(bare) || /(?:^|\/)\.\.(?:\/|$)/.test(bare)) return undefined;
  if (/^[a-z]:/i.test(bare) || bare.length > longestPattern) return undefined;
  const place = bare.includes("/") ? bare.replace(/^\//, "") : `**/${bare}`;
  try {
    const isMatch = picomatch([place, `${place}/**`], patternOptions);
    return { text, matches: (relative) => isMatch(relative) };
  } catch {
    return undefined;
  }
}

/** Without the last two, what is no pattern would match nothing, or itself as a plain name, and nobody would hear of it. */
const patternOptions = { dot: true, nonegate: true, strictBrackets: true, debug: true } as const;

const longestPattern = 1000;

/**
 * A path as patterns see it; `undefined` for one outside the folder and for the folder itself. Both are absolute and
 * normalized. By text alone, since a browser has no `node:path`: a path that begins with `/` is taken as it is, every
 * other is one of Windows, where `\\` separates and case does not matter.
 */
export function relativePath(folder: string, target: string): string | undefined {
  const isPosix = folder.startsWith("/");
  const [base, place] = isPosix ? [folder, target] : [slashed(folder), slashed(target)];
  const start = base.endsWith("/") ? base : `${base}/`;
  const head = place.slice(0, start.length);
  const isBelow = isPosix ? head === start : head.toLowerCase() === start.toLowerCase();
  return isBelow ? place.slice(start.length) || undefined : undefined;
}

function slashed(file: string): string {
  return file.replaceAll("\\", "/");
}
