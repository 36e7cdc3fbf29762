/** Paths as reports for other programs name them: the same on every machine that has the repository. */
import { existsSync } from "node:fs";
import path from "node:path";

/**
 * A function from names to paths relative to the top of the repository around `cwd` (to `cwd` where there is none), with
 * `/`; what lies outside stays absolute.
 */
export function sharedPaths(cwd: string): (name: string) => string {
  const root = topOfRepository(cwd) ?? cwd;
  return (name) => {
    const absolute = path.resolve(cwd, name);
    const relative = path.relative(root, absolute);
    const isOutside = relative === ".." || relative.startsWith(`..${path.sep}`) || path.isAbsolute(relative);
    return (isOutside ? absolute : relative).split(path.sep).join("/");
  };
}

function topOfRepository(cwd: string): string | undefined {
  for (let folder = cwd; ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, ".git"))) return folder;
    if (path.dirname(folder) === folder) return undefined;
  }
}
