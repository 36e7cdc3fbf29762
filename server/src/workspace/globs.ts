/** The patterns of settings files: relative to the folder of the file, with `/` on every system. */
import path from "node:path";
import picomatch from "picomatch";

export interface PathPattern {
  readonly text: string;
  /** Of a path relative to the folder, with `/`: true for what the pattern names and for everything below it. */
  matches(relative: string): boolean;
}

/**
 * A pattern without a slash names files and folders at any depth, one with a slash stands for a place: `build`,
 * `*_test.py`, `/scripts`, `src/legacy/**`. `undefined` for one that cannot mean anything: empty, negated, leading
 * out of the folder or absolute on Windows.
 */
export function pathPattern(text: string): PathPattern | undefined {
  const bare = text.trim().replaceAll("\\", "/").replace(/^\.\//, "").replace(/\/+$/, "");
  if (bare === "" || bare === "." || /^!/.test(bare) || /(?:^|\/)\.\.(?:\/|$)/.test(bare)) return undefined;
  if (/^[a-z]:/i.test(bare) || bare.length > longestPattern) return undefined;
  const place = bare.includes("/") ? bare.replace(/^\//, "") : `**/${bare}`;
  const isMatch = picomatch([place, `${place}/**`], { dot: true, nonegate: true });
  return { text, matches: (relative) => isMatch(relative) };
}

const longestPattern = 1000;

/** A path as patterns see it; `undefined` for one outside the folder and for the folder itself. */
export function relativePath(folder: string, target: string): string | undefined {
  const relative = path.relative(folder, target);
  if (relative === "" || relative === ".." || relative.startsWith(`..${path.sep}`)) return undefined;
  return path.isAbsolute(relative) ? undefined : relative.split(path.sep).join("/");
}
