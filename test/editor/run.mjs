/**
 * Runs the editor tests in a real VS Code, once in English and once in Chinese, a few in its web worker for extensions, and a
 * few in the extension as it is packed and installed.
 *
 *   node test/editor/run.mjs [--result FILE] [--required] [--update-screenshots] [--extension FOLDER|FILE.vsix]
 *                            [--grep TITLE] [--locale en] [--locale zh-cn] [--web-only] [--package-only]
 *
 * `--result` leaves { passed, failed, skipped, failures, skippedBecause } in a file. Where VS Code cannot be had the
 * tests are skipped loudly, with `--required` they fail. Pictures go to `.output`, with `--update-screenshots` to
 * `docs/images` and `client/walkthrough`. `--extension` tests a package, or an unpacked one, instead of this checkout; `--grep` and `--locale` run a part.
 * VSCODE_EXECUTABLE names an installed VS Code, CHROMIUM a browser, VRAMLINT_EDITOR_HOST=desktop or =server chooses;
 * VRAMLINT_EDITOR_LOG=1 prints VS Code's own log.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import * as esbuild from "esbuild";
import { ensureBuilt, root } from "../../scripts/tasks.mjs";
import { installRuntime } from "./install.mjs";
import { launchOnDesktop } from "./launch-desktop.mjs";
import { launchInServer } from "./launch-server.mjs";
import { launchInWorker } from "./launch-web.mjs";
import { PictureService } from "./pictures.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const output = path.join(here, ".output");
/** Milliseconds for one run of the suite, which takes two minutes: on a machine that does many other things at once, too. */
const limit = 480_000;

const { values: options } = parseArgs({
  options: {
    result: { type: "string" },
    required: { type: "boolean", default: false },
    "update-screenshots": { type: "boolean", default: false },
    extension: { type: "string", default: root },
    grep: { type: "string" },
    "web-only": { type: "boolean", default: false },
    "package-only": { type: "boolean", default: false },
    locale: { type: "string", multiple: true, default: ["en", "zh-cn"] },
  },
});

const log = (text) => console.log(text);
const total = { passed: 0, failed: 0, skipped: 0, failures: [] };

try {
  await installRuntime(log);
} catch (error) {
  const reason = `VS Code could not be installed: ${error instanceof Error ? error.message.split("\n")[0] : error}`;
  if (options.required) fail(reason);
  else {
    console.warn(`SKIPPED: ${reason}`);
    total.skipped += 1;
    total.skippedBecause = reason;
  }
  finish();
}

if (options.extension === root) ensureBuilt();
rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });
const isWhole = options.grep === undefined && options.locale.length > 1;
const isPart = options["web-only"] || options["package-only"];
const suite = await bundleSuite();
if (!isPart) {
  for (const locale of options.locale) await runSuite(suite, { locale, extension: options.extension });
}
if (options["web-only"] || (isWhole && !isPart)) await runInWorker();
if (options["package-only"] || (isWhole && !isPart && options.extension === root)) await runPackage();
finish();

/** Packed as for the marketplace and installed as a user does. */
async function runPackage() {
  if (onDesktop()) {
    console.warn("SKIPPED, the package: it is installed into VS Code's server only");
    total.skipped += 1;
    total.skippedBecause = "the package is installed into VS Code's server only";
    return;
  }
  const file = path.join(output, "vramlint.vsix");
  const pack = path.join(root, "scripts/package.mjs");
  log(execFileSync(process.execPath, [pack, "--out", file], { cwd: root, encoding: "utf8" }));
  await runSuite(suite, { locale: "en", extension: file, part: "smoke" });
}

async function bundleSuite() {
  const outfile = path.join(output, "suite.js");
  await esbuild.build({
    entryPoints: [path.join(here, "suite/index.ts")],
    outfile,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    sourcemap: "inline",
    external: ["vscode", "mocha"],
  });
  return outfile;
}

/** Needs the server build, and a folder to serve. */
async function runInWorker() {
  const reason = onDesktop()
    ? "the desktop has no web worker with files from a server"
    : options.extension.endsWith(".vsix")
      ? "a package would have to be unpacked"
      : undefined;
  if (reason !== undefined) {
    console.warn(`SKIPPED, the web worker: ${reason}`);
    total.skipped += 1;
    total.skippedBecause = reason;
    return;
  }
  log("\nVS Code's web worker");
  const transcript = [];
  try {
    const result = await launchInWorker({
      extension: path.resolve(options.extension),
      entry: path.join(here, "suite/web.ts"),
      output,
      limit,
      log: (text) => transcript.push(text),
    });
    add("web", result);
  } catch (error) {
    fail(`VS Code's web worker: ${error instanceof Error ? error.message : error}`);
  } finally {
    writeFileSync(path.join(output, "log.web.txt"), transcript.join("\n"));
  }
}

async function runSuite(suite, { locale, extension, part = "" }) {
  const title = part === "" ? locale : `${locale}, ${part}`;
  log(`\nVS Code in ${title}`);
  const folder = mkdtempSync(path.join(os.tmpdir(), "vramlint-project-"));
  const project = path.join(folder, "project");
  cpSync(path.join(here, "workspace"), project, { recursive: true });
  cpSync(path.join(root, "test-fixtures/example"), project, { recursive: true });
  const resultFile = path.join(output, `result.${locale}${part}.json`);
  const isKept = options["update-screenshots"];
  const pictures = new PictureService({
    folder: isKept ? path.join(root, "docs/images") : output,
    walkthrough: isKept ? path.join(root, "client/walkthrough") : output,
    output,
  });
  const transcript = [];
  try {
    const env = {
      VRAMLINT_SUITE_RESULT: resultFile,
      VRAMLINT_SUITE_LOCALE: locale,
      VRAMLINT_SUITE_PART: part,
      VRAMLINT_SUITE_GREP: options.grep ?? "",
      VRAMLINT_PICTURES: await pictures.start(),
    };
    const launch = onDesktop() ? launchOnDesktop : launchInServer;
    const keep = (text) => {
      transcript.push(text);
      if (process.env.VRAMLINT_EDITOR_LOG) log(text);
    };
    await launch({
      extension: path.resolve(extension),
      suite,
      folder: project,
      locale,
      env,
      limit,
      log: keep,
      onPage: (page) => pictures.use(page),
    });
  } catch (error) {
    fail(`VS Code in ${title}: ${error instanceof Error ? error.message : error}`);
  } finally {
    pictures.stop();
    writeFileSync(path.join(output, `log.${locale}${part}.txt`), transcript.join("\n"));
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
  addResult(title, resultFile);
}

function addResult(title, file) {
  if (!existsSync(file)) {
    fail(`VS Code in ${title}: the suite left no result; see the logs in ${path.relative(root, output)}`);
    return;
  }
  add(title, JSON.parse(readFileSync(file, "utf8")));
}

function add(title, result) {
  log(result.report);
  for (const key of ["passed", "failed", "skipped"]) total[key] += result[key];
  total.failures.push(...result.failures.map((failure) => `${title}: ${failure}`));
}

function onDesktop() {
  const wanted = process.env.VRAMLINT_EDITOR_HOST;
  if (wanted !== undefined) return wanted === "desktop";
  return process.env.VSCODE_EXECUTABLE !== undefined || process.platform !== "linux";
}

function fail(reason) {
  console.error(reason);
  total.failed += 1;
  total.failures.push(reason);
}

function finish() {
  log(`editor: ${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  if (options.result !== undefined) writeFileSync(options.result, JSON.stringify(total));
  process.exit(total.failed === 0 ? 0 : 1);
}
