/**
 * `npm run package`: one .vsix for all platforms, and what is in it by size.
 *
 *   node scripts/package.mjs [--out FILE] [--address https://…]
 *
 * With the repository's public address the links of the README lead there; without one those that would lead nowhere are
 * taken out of the packed page, their text stays.
 */
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { packageParts, printParts } from "./package-parts.mjs";
import { ensureInstalled, root } from "./tasks.mjs";

const { values: options } = parseArgs({
  options: { out: { type: "string" }, address: { type: "string" } },
});

ensureInstalled();
// Only now: it may just have been installed. It builds by the manifest's prepublish script.
const { createVSIX, listFiles, PackageManager } = await import("@vscode/vsce");
const { recompress } = await import("./recompress.mjs");
const file = path.resolve(root, options.out ?? "vramlint.vsix");
/** Packed as the README; it must lie in the folder that is packed. */
const page = path.join(root, "README.packed.md");
try {
  const text = readFileSync(path.join(root, "README.md"), "utf8");
  writeFileSync(page, options.address === undefined ? withoutRelativeLinks(text) : text);
  await createVSIX({
    cwd: root,
    packagePath: file,
    dependencies: false,
    allowMissingRepository: true,
    readmePath: path.basename(page),
    rewriteRelativeLinks: options.address !== undefined,
    ...(options.address === undefined
      ? {}
      : { baseContentUrl: `${options.address}/blob/main`, baseImagesUrl: `${options.address}/raw/main` }),
  });
  await recompress(file);
} finally {
  rmSync(page, { force: true });
}
printParts(packageParts(root, await listFiles({ cwd: root, packageManager: PackageManager.None })));
// The parts are what deflate alone makes of them.
console.log(`${path.relative(root, file)}, packed tighter: ${Math.round(statSync(file).size / 1024)} KiB`);

/** Pictures that cannot be shown go with their line; links that lead nowhere leave their text. */
function withoutRelativeLinks(markdown) {
  return markdown
    .replaceAll(/^!\[[^\]]*\]\((?!https:)[^)]*\)\n\n?/gm, "")
    .replaceAll(/(?<!!)\[([^\]]*)\]\((?!https:)[^)]*\)/g, "$1");
}
