/** What `npm start` and `npm test` share: installing and building what is missing. Needs nothing but Node and npm. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "..");
const onWindows = process.platform === "win32";

/** Runs a command with our streams and gives its exit status; 1 when it could not be started. */
export function run(command, args, options = {}) {
  const shell = onWindows && command === "npm";
  const result = spawnSync(command, args, { cwd: root, stdio: "inherit", shell, ...options });
  return result.status ?? 1;
}

/** Installs the dependencies when there are none or the lock file is newer than they are. */
export function ensureInstalled() {
  const marker = path.join(root, "node_modules/.package-lock.json");
  const lock = path.join(root, "package-lock.json");
  if (existsSync(marker) && statSync(marker).mtimeMs >= statSync(lock).mtimeMs) return;
  console.log("installing dependencies (npm ci) …");
  if (run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"]) !== 0) {
    console.error("npm ci failed: vramlint needs Node 20.19 or newer, npm and a reachable npm registry");
    process.exit(2);
  }
}

/** Bundles the programs when a source is newer than its bundle. */
export function ensureBuilt() {
  const bundles = ["cli.js", "program.js", "server.js", "launch.js", "extension.js"].map((name) =>
    path.join(root, "dist", name),
  );
  const oldest = Math.min(...bundles.map((file) => (existsSync(file) ? statSync(file).mtimeMs : 0)));
  const sources = ["server/src", "client/src", "scripts/build.mjs", "package-lock.json"];
  if (oldest > Math.max(...sources.map((source) => newest(path.join(root, source))))) return;
  console.log("building …");
  if (run(process.execPath, ["scripts/build.mjs"]) !== 0) process.exit(2);
}

function newest(file) {
  const stats = statSync(file);
  if (!stats.isDirectory()) return stats.mtimeMs;
  const times = readdirSync(file).map((name) => newest(path.join(file, name)));
  return Math.max(stats.mtimeMs, ...times);
}
