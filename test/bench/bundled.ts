/** Runs a program of this folder as one bundle, as the server is shipped. */
import { spawnSync } from "node:child_process";
import path from "node:path";
import { buildSync } from "esbuild";

const root = path.join(__dirname, "../..");

export function runBundled(file: string): void {
  // inside the repository, where packages are found
  const outfile = path.join(root, "node_modules/.cache/vramlint", `${path.parse(file).name}.cjs`);
  buildSync({
    entryPoints: [path.join(__dirname, file)],
    outfile,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    minify: true,
    packages: "external",
    define: { __dirname: JSON.stringify(__dirname) },
  });
  spawnSync(process.execPath, [outfile], { stdio: "inherit" });
}
