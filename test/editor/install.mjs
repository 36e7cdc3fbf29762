/**
 * Puts everything that the editor tests need into `.runtime`: nothing but npm is asked for, nothing is compiled, no
 * install script runs. Done once; a change of package.json or package-lock.json does it again.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
export const runtime = path.join(here, ".runtime");
const modules = path.join(runtime, "node_modules");
const stamp = path.join(runtime, "installed");

/** Loads a package of the runtime, which `import` does not find from here. */
export const requireFromRuntime = createRequire(path.join(runtime, "package.json"));

/** Throws when something cannot be had, e.g. without a network. */
export async function installRuntime(log) {
  const wanted = createHash("sha256");
  for (const file of ["package.json", "package-lock.json", "install.mjs"])
    wanted.update(readFileSync(path.join(here, file)));
  const hash = wanted.digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === hash) return;
  log("installing a VS Code for the editor tests (once, about 1 GB) …");
  rmSync(runtime, { recursive: true, force: true });
  mkdirSync(runtime, { recursive: true });
  for (const file of ["package.json", "package-lock.json"])
    copyFileSync(path.join(here, file), path.join(runtime, file));
  npm("ci", [], runtime);
  if (process.platform === "linux") {
    // Not `ci`: the lock file inside the package does not match its package.json.
    npm("install", ["--omit=dev"], vscodeServer().root);
    await unpackChromium();
    writeFontConfiguration();
  }
  writeFileSync(stamp, hash);
}

function npm(command, args, cwd) {
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1"];
  const shell = process.platform === "win32";
  execFileSync(shell ? "npm.cmd" : "npm", [command, ...args, ...flags], {
    cwd,
    shell,
    stdio: ["ignore", "ignore", "inherit"],
  });
}

/** VS Code's own server build, which the package `code-server` carries, and the Node that it asks for. */
export function vscodeServer() {
  const root = path.join(modules, "code-server", "lib", "vscode");
  return {
    root,
    main: path.join(root, "out", "server-main.js"),
    node: path.join(modules, `node-linux-${process.arch}`, "bin", "node"),
  };
}

const chromiumFolder = path.join(runtime, "chromium");
const systemChromium = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** `CHROMIUM` if set, else the one from npm, else the system's (npm has none for some processors). */
export function chromium() {
  const own = path.join(chromiumFolder, "chromium");
  const executable = [process.env.CHROMIUM, own, ...systemChromium].find((file) => file && existsSync(file));
  if (executable === undefined) throw new Error("no Chromium; name one in the environment variable CHROMIUM");
  const libraries = [process.env.LD_LIBRARY_PATH, path.join(chromiumFolder, "lib")].filter(Boolean).join(":");
  return {
    executable,
    env: {
      FONTCONFIG_FILE: path.join(runtime, "fonts.conf"),
      ...(executable === own ? { LD_LIBRARY_PATH: libraries } : {}),
    },
  };
}

async function unpackChromium() {
  if (process.env.CHROMIUM || process.arch !== "x64") return;
  const archives = path.join(modules, "@sparticuz", "chromium", "bin");
  const read = (name) => brotliDecompressSync(readFileSync(path.join(archives, name)));
  mkdirSync(chromiumFolder, { recursive: true });
  const executable = path.join(chromiumFolder, "chromium");
  writeFileSync(executable, read("chromium.br"));
  chmodSync(executable, 0o755);
  for (const name of ["al2023.tar.br", "fonts.tar.br", "swiftshader.tar.br"])
    await untar(read(name), chromiumFolder);
}

async function untar(buffer, folder) {
  const tar = requireFromRuntime("tar-fs");
  const extract = tar.extract(folder);
  const done = new Promise((resolve, reject) => extract.on("finish", resolve).on("error", reject));
  extract.end(buffer);
  await done;
}

/** The same fonts on every machine, so that the pictures are the same and Chinese is not boxes. */
function writeFontConfiguration() {
  const folders = [
    path.join(modules, "@embedpdf", "fonts-sc", "fonts"),
    path.join(modules, "@expo-google-fonts", "jetbrains-mono", "400Regular"),
    path.join(modules, "@expo-google-fonts", "jetbrains-mono", "700Bold"),
    path.join(chromiumFolder, "fonts"),
    "/usr/share/fonts",
  ];
  const prefer = (generic, families) =>
    `<alias binding="strong"><family>${generic}</family><prefer>` +
    families.map((family) => `<family>${family}</family>`).join("") +
    `</prefer></alias>`;
  const interfaceFonts = ["Open Sans", "Noto Sans Hans", "DejaVu Sans"];
  writeFileSync(
    path.join(runtime, "fonts.conf"),
    [
      `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd"><fontconfig>`,
      ...folders.map((folder) => `<dir>${folder}</dir>`),
      `<cachedir>${path.join(runtime, "font-cache")}</cachedir>`,
      prefer("system-ui", interfaceFonts),
      prefer("sans-serif", interfaceFonts),
      prefer("monospace", ["JetBrains Mono", "Noto Sans Hans", "DejaVu Sans Mono"]),
      `</fontconfig>`,
    ].join("\n"),
  );
}
