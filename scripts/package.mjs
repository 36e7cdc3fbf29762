/** `npm run package`: one .vsix for all platforms, and what is in it by size. */
import { statSync } from "node:fs";
import path from "node:path";
import { ensureInstalled, root } from "./tasks.mjs";

ensureInstalled();
// Only now: it may just have been installed. It builds by the manifest's prepublish script.
const { createVSIX } = await import("@vscode/vsce");
const file = path.join(root, "vramlint.vsix");
await createVSIX({
  cwd: root,
  packagePath: file,
  dependencies: false,
  allowMissingRepository: true,
  // The links of the README lead into this repository, which has no public address yet.
  rewriteRelativeLinks: false,
});
console.log(`${path.relative(root, file)}: ${Math.round(statSync(file).size / 1024)} KiB`);
