/** Paths as the patterns of settings files see them: on every system, without asking one. */
import assert from "node:assert/strict";
import path from "node:path";
import fc from "fast-check";
import { relativePath } from "../../../server/src/workspace/globs";

describe("relative paths", () => {
  const name = fc.constantFrom("a", "A", "b.py", "..b", "ä", "a b");
  const below = fc.array(name, { maxLength: 3 });

  /** What Node says of the same two, in the words of this function. */
  function byNode(system: path.PlatformPath, folder: string, target: string): string | undefined {
    const relative = system.relative(folder, target);
    if (relative === "" || relative === ".." || relative.startsWith(`..${system.sep}`)) return undefined;
    return system.isAbsolute(relative) ? undefined : relative.replaceAll(system.sep, "/");
  }

  for (const [title, system, roots] of [
    ["POSIX", path.posix, ["/", "/home/", "/a"]],
    ["Windows", path.win32, ["C:\\", "c:\\", "D:\\work\\", "\\\\server\\share\\"]],
  ] as const) {
    it(`are those of Node on ${title}`, () => {
      const place = fc.tuple(fc.constantFrom(...roots), below).map(([root, names]) => {
        const joined = system.join(root, ...names);
        return joined.length > system.parse(joined).root.length ? joined.replace(/[\\/]$/, "") : joined;
      });
      fc.assert(
        fc.property(place, place, (folder, target) => {
          assert.equal(relativePath(folder, target), byNode(system, folder, target));
        }),
        { numRuns: 2000 },
      );
    });
  }

  it("keep a backslash that is part of a POSIX name", () => {
    assert.equal(relativePath("/home", "/home/a\\b.py"), "a\\b.py");
  });
});
