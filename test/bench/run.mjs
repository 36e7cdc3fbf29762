/**
 * `npm run bench`: bundles the benchmarks as the programs that ship are bundled and runs them. From source, the loader
 * would add something of its own to every function.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { bundlingOptions } from "../../scripts/bundling.mjs";

const folder = path.dirname(fileURLToPath(import.meta.url));
const root = path.join(folder, "../..");
const cache = path.join(root, "node_modules/.cache");
const entry = process.argv[2] === "--estimates" ? "estimates.ts" : "bench.ts";
const program = path.join(cache, `vramlint-bench.${process.pid}.cjs`);

/** Sources that look for files beside themselves find them from within the bundle too. */
const ownFolders = {
  name: "own folders",
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path: file }) => ({
      loader: "ts",
      contents: readFileSync(file, "utf8").replaceAll(/\b__dirname\b/g, JSON.stringify(path.dirname(file))),
    }));
  },
};

mkdirSync(cache, { recursive: true });
await esbuild.build({
  ...bundlingOptions(root),
  entryPoints: [path.join(folder, entry)],
  outfile: program,
  plugins: [ownFolders],
});
try {
  const run = spawnSync(process.execPath, [...process.execArgv, program, ...process.argv.slice(2)], {
    stdio: "inherit",
  });
  process.exitCode = run.status ?? 1;
} finally {
  rmSync(program, { force: true });
}
