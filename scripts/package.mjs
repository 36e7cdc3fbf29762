/** `npm run package`: one .vsix for all platforms, and what is in it by size. */
import { statSync } from "node:fs";
import path from "node:path";
import { createVSIX } from "@vscode/vsce";
import { ensureBuilt, ensureInstalled, root } from "./tasks.mjs";

ensureInstalled();
ensureBuilt();
const file = path.join(root, "vramlint.vsix");
await createVSIX({ cwd: root, packagePath: file, dependencies: false, allowMissingRepository: true });
console.log(`${path.relative(root, file)}: ${Math.round(statSync(file).size / 1024)} KiB`);
