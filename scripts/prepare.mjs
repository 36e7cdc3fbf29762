/**
 * npm runs this after `npm install` here, before `npm pack`, and when somebody installs vramlint straight from its
 * repository, as pre-commit does. In that last case, with `--global`, npm leaves the development dependencies out,
 * which the build needs.
 */
import { existsSync } from "node:fs";
import path from "node:path";
import { ensureBuilt, root, run } from "./tasks.mjs";

if (!existsSync(path.join(root, "node_modules/esbuild"))) {
  const env = { ...process.env };
  for (const name of Object.keys(env)) {
    if (/^npm_config_(?:global|location|omit|production)$/i.test(name)) delete env[name];
  }
  const status = run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], {
    env,
  });
  if (status !== 0) process.exit(status);
}
ensureBuilt();
