/**
 * Bundles the programs into `dist/` (extension and language server, each one file for Node and for a browser, and the
 * command line) and the memory timeline's page, and puts beside them what they read at run time: the parser's WebAssembly
 * and the rules' pages. Prints the sizes of what a browser loads.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { bundlingOptions } from "./bundling.mjs";

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "..");
const dist = path.join(root, "dist");
/** Built beside it and renamed at the end: programs that run from `dist/` never see half a build. */
const building = path.join(root, `dist.${process.pid}`);
const inRoot = (...parts) => path.join(root, ...parts);

const common = {
  ...bundlingOptions(root),
  sourcemap: process.argv.includes("--sourcemap"),
  minify: !process.argv.includes("--no-minify"),
};

/** Code for Node and code for browsers lie in one file; at run time the half that is not needed does nothing. */
const forBoth = { conditions: ["node", "browser"] };

const programs = [
  { entry: "client/src/entry.ts", out: "extension.js", external: ["vscode"], ...forBoth },
  { entry: "server/src/lsp/start.ts", out: "server.js", format: "iife", ...forBoth },
  { entry: "server/src/bin.ts", out: "program.js" },
  { entry: "server/src/launch/language-server.ts", out: "launch.js" },
  { entry: "server/src/launch/command-line.ts", out: "cli.js", banner: { js: "#!/usr/bin/env node" } },
];

/** What a browser runs. Bundled for nothing but the proof that it can: an import of Node's fails here. */
const browserParts = {
  ...common,
  platform: "browser",
  target: "es2022",
  entryPoints: [inRoot("client/src/browser.ts"), inRoot("server/src/lsp/worker.ts")],
  outdir: building,
  write: false,
  // The last two are asked for in a branch that only Node takes.
  external: ["vscode", "fs", "fs/promises"],
};

/** The page of the memory timeline: loaded by its panel only, and run by a browser. */
const panel = {
  ...common,
  platform: "browser",
  target: "es2022",
  format: "iife",
  tsconfig: inRoot("client/panel/tsconfig.json"),
  entryPoints: [inRoot("client/panel/main.tsx")],
  outfile: path.join(building, "panel.js"),
};

mkdirSync(building, { recursive: true });
await Promise.all([
  ...programs.map(({ entry, out, ...options }) =>
    esbuild.build({ ...common, ...options, entryPoints: [inRoot(entry)], outfile: path.join(building, out) }),
  ),
  esbuild.build(browserParts),
  esbuild.build(panel),
]);

cpSync(
  inRoot("node_modules/web-tree-sitter/web-tree-sitter.wasm"),
  path.join(building, "web-tree-sitter.wasm"),
);
cpSync(
  inRoot("node_modules/tree-sitter-python/tree-sitter-python.wasm"),
  path.join(building, "tree-sitter-python.wasm"),
);
cpSync(inRoot("test-fixtures/example/train.py"), path.join(building, "example/train.py"));
/** As files for the command line and other editors; in one file per language for the extension, which packs far smaller. */
const pages = { en: {}, "zh-cn": {} };
for (const room of ["server/src/rules", "server/src/directives/pages"]) {
  for (const rule of readdirSync(inRoot(room), { withFileTypes: true })) {
    if (!rule.isDirectory()) continue;
    for (const [language, page] of [
      ["en", "doc.md"],
      ["zh-cn", "doc.zh-cn.md"],
    ]) {
      const from = inRoot(room, rule.name, page);
      if (!existsSync(from)) continue;
      cpSync(from, path.join(building, "rules", rule.name, page));
      pages[language][rule.name] = readFileSync(from, "utf8");
    }
  }
}
mkdirSync(path.join(building, "pages"));
for (const [language, texts] of Object.entries(pages)) {
  const sorted = Object.fromEntries(Object.entries(texts).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(path.join(building, "pages", `${language}.json`), JSON.stringify(sorted));
}

const previous = path.join(root, `dist.${process.pid}.previous`);
if (existsSync(dist)) renameSync(dist, previous);
renameSync(building, dist);
rmSync(previous, { recursive: true, force: true });

const sizes = ["extension.js", "server.js", "panel.js", "panel.css"].map(
  (file) => `${file} ${kibibytes(path.join(dist, file))} KiB`,
);
console.log(sizes.join(", "));

function kibibytes(file) {
  return (statSync(file).size / 1024).toFixed(1);
}
