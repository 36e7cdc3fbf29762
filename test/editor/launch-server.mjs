/**
 * VS Code without a download: its own server build, started here, opened in a headless Chromium. The suite runs in the
 * extension host of that server, so everything but the window is what a remote VS Code runs.
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { chromium, requireFromRuntime, vscodeServer } from "./install.mjs";

const startLimit = 60_000;

/**
 * Runs a suite; answers its exit code. `serve(page)` gives the suite's requests for pictures and keys something to act
 * on, `env` reaches the suite.
 */
export async function launchInServer({ extension, suite, folder, locale, env, onPage, limit, log }) {
  const home = mkdtempSync(path.join(os.tmpdir(), "vramlint-editor-"));
  for (const name of ["data", "extensions"]) mkdirSync(path.join(home, name));
  // A package is installed as a user does; VS Code insists on a folder to develop in, which is an empty extension then.
  const isPackage = extension.endsWith(".vsix");
  if (isPackage) installPackage(extension, home);
  const developed = isPackage ? emptyExtension(home) : extension;
  const server = await startServer(home, env, log);
  try {
    const remote = (file) => `vscode-remote://127.0.0.1:${server.port}${file}`;
    const payload = [
      ["extensionDevelopmentPath", remote(developed)],
      ["extensionTestsPath", remote(suite)],
      ["skipWelcome", "true"],
    ];
    const query = { folder, payload: JSON.stringify(payload) };
    return await openWindow({ server, query, locale, onPage, limit, log });
  } finally {
    await stop(server.process);
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** By VS Code's own command line. */
function installPackage(file, home) {
  const { main, node } = vscodeServer();
  const args = [main, "--install-extension", file, "--accept-server-license-terms"];
  execFileSync(node, [...args, ...foldersIn(home)], { stdio: "pipe" });
}

function emptyExtension(home) {
  const folder = path.join(home, "nothing");
  mkdirSync(folder);
  const manifest = { name: "nothing", publisher: "vramlint", version: "0.0.1", engines: { vscode: "*" } };
  writeFileSync(path.join(folder, "package.json"), JSON.stringify(manifest));
  return folder;
}

function foldersIn(home) {
  return ["--server-data-dir", path.join(home, "data"), "--extensions-dir", path.join(home, "extensions")];
}

export async function startServer(home, env, log) {
  const { main, node } = vscodeServer();
  const args = [
    main,
    ...["--host", "127.0.0.1", "--port", "0", "--without-connection-token", "--accept-server-license-terms"],
    ...["--telemetry-level", "off", "--enable-smoke-test-driver", ...foldersIn(home)],
  ];
  const child = spawn(node, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  const port = await new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`VS Code's server did not start:\n${output}`)),
      startLimit,
    );
    const read = (chunk) => {
      output += chunk;
      if (process.env.VRAMLINT_EDITOR_LOG) log(String(chunk).trimEnd());
      const found = /listening on (\d+)/.exec(output);
      if (found === null) return;
      clearTimeout(timer);
      resolve(Number(found[1]));
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("exit", (code) => reject(new Error(`VS Code's server ended with ${code}:\n${output}`)));
  });
  return { process: child, port };
}

/** Opens the window with what the query asks for, and waits until the suite ends: answers its exit code. `changes` are texts that
 * the window loads, by a pattern of their path, and what to make of each. */
export async function openWindow({ server, query, changes = [], locale, onPage, limit, log }) {
  const { executable, env } = chromium();
  const playwright = requireFromRuntime("playwright-core");
  const browser = await playwright.chromium.launch({
    executablePath: executable,
    env: { ...process.env, ...env },
    args: [
      ...["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"],
      ...["--disable-component-update", "--disable-quic", "--no-first-run", "--font-render-hinting=none"],
      "--disable-features=LocalNetworkAccessChecks",
    ],
  });
  try {
    const page = await browser.newPage({
      viewport: { width: 1200, height: 720 },
      deviceScaleFactor: 2,
      // The page may load an extension from its own server only.
      bypassCSP: changes.length > 0,
    });
    const exit = new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`the suite did not end within ${limit / 1000} s`)),
        limit,
      );
      void page.exposeFunction("codeAutomationExit", (code) => {
        clearTimeout(timer);
        resolve(code);
      });
    });
    await page.exposeFunction("codeAutomationLog", (type, args) => {
      if (process.env.VRAMLINT_EDITOR_LOG || type === "error") log(`[${type}] ${args.join(" ")}`);
    });
    if (process.env.VRAMLINT_EDITOR_LOG) page.on("console", (message) => log(`[page] ${message.text()}`));
    if (locale !== undefined) {
      await page.addInitScript((name) => {
        globalThis._VSCODE_NLS_LANGUAGE = name;
      }, locale);
    }
    onPage?.(page);
    for (const [wanted, changed] of changes) {
      await page.route(
        ({ pathname }) => wanted.test(pathname),
        async (route) => {
          const response = await route.fetch();
          await route.fulfill({ response, body: changed(await response.text()) });
        },
      );
    }
    await page.goto(`http://127.0.0.1:${server.port}/?${new URLSearchParams(query)}`);
    return await exit;
  } finally {
    await browser.close();
  }
}

/** Ends the server and the extension hosts that it started: they are one process group. */
export async function stop(child) {
  if (child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  process.kill(-child.pid, "SIGTERM");
  const timer = setTimeout(() => process.kill(-child.pid, "SIGKILL"), 5000);
  await ended;
  clearTimeout(timer);
}
