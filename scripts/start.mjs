/**
 * `npm start`: installs and builds what is missing, then checks and estimates the bundled example. With arguments
 * (`npm start -- check FILE`) runs the command line with them.
 */
import path from "node:path";
import { ensureBuilt, ensureInstalled, root, run } from "./tasks.mjs";

ensureInstalled();
ensureBuilt();

const cli = (...args) => run(process.execPath, ["dist/cli.js", ...args]);
const args = process.argv.slice(2);
if (args.length > 0)
  process.exit(
    run(process.execPath, [path.join(root, "dist/cli.js"), ...args], { cwd: process.env.INIT_CWD ?? root }),
  );

const example = "test-fixtures/example/train.py";
console.log(`\n$ vramlint check ${example}\n`);
const checked = cli("check", example);
console.log(`\n$ vramlint estimate ${example}\n`);
const estimated = cli("estimate", example);
// The example has findings on purpose: 1 is what is expected of it.
process.exit(checked <= 1 ? estimated : checked);
