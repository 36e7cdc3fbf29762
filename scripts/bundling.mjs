/** How code for Node is bundled: for `dist/` and for the benchmarks, which measure what ships. */
import path from "node:path";

/** Options of esbuild; `root` is the repository's folder. */
export function bundlingOptions(root) {
  const installed = (file) => path.join(root, "node_modules", file);
  return {
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    legalComments: "none",
    // Chinese texts as they are, not as escapes of twice the size.
    charset: "utf8",
    logLevel: "warning",
    absWorkingDir: root,
    alias: {
      // The ESM build of web-tree-sitter needs import.meta.url, which a CommonJS bundle lacks.
      "web-tree-sitter": installed("web-tree-sitter/web-tree-sitter.cjs"),
      // The CommonJS build of jsonc-parser hides its imports from the bundler.
      "jsonc-parser": installed("jsonc-parser/lib/esm/main.js"),
    },
  };
}
