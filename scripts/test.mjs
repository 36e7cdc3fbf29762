/**
 * `npm test`: installs and builds what is missing, then runs all layers: types, lint, the mocha suites, the tests inside
 * a real VS Code. Says loudly what it had to skip. `npm test -- --no-editor` leaves the editor layer out; with
 * VRAMLINT_EDITOR_TESTS=required not being able to run it is a failure.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { ensureBuilt, ensureInstalled, root, run } from "./tasks.mjs";

ensureInstalled();
ensureBuilt();

const total = { passed: 0, failed: 0, skipped: 0 };
const notes = [];
const results = mkdtempSync(path.join(os.tmpdir(), "vramlint-test-"));

/** A check that passes or fails as a whole. */
function step(title, script, args) {
  console.log(`\n— ${title}`);
  const passed = run(process.execPath, [path.join(root, "node_modules", script), ...args]) === 0;
  total[passed ? "passed" : "failed"] += 1;
  if (!passed) notes.push(`${title}: failed`);
}

/** A suite that leaves its counts in a file. */
function suite(title, args, resultFile, env = {}) {
  console.log(`\n— ${title}`);
  const status = run(process.execPath, args, { env: { ...process.env, ...env } });
  if (!existsSync(resultFile)) {
    total.failed += 1;
    notes.push(`${title}: ended with status ${status} and left no result`);
    return;
  }
  const counts = JSON.parse(readFileSync(resultFile, "utf8"));
  for (const key of Object.keys(total)) total[key] += counts[key];
  for (const failure of counts.failures ?? []) notes.push(`${title}: ${failure}`);
  if (status !== 0 && counts.failed === 0) {
    total.failed += 1;
    notes.push(`${title}: ended with status ${status}`);
  }
  if (counts.skippedBecause) notes.push(`SKIPPED, ${title}: ${counts.skippedBecause}`);
}

step("types", "typescript/bin/tsc", ["--noEmit"]);
step("types of the panel's page", "typescript/bin/tsc", ["--noEmit", "-p", "client/panel"]);
step("lint", "eslint/bin/eslint.js", ["."]);
step("format", "prettier/bin/prettier.cjs", ["--check", "--log-level", "warn", "."]);

const mochaResult = path.join(results, "mocha.json");
suite(
  "unit, protocol, command line, fuzz",
  [
    "node_modules/mocha/bin/mocha.js",
    // The process that the loader compiles with has once kept a finished run from ending.
    "--exit",
    // Many tests wait for processes they have started: two at a time also where there is one core.
    "--parallel",
    "--jobs",
    String(Math.max(2, os.availableParallelism())),
    "--reporter",
    "scripts/mocha-reporter.cjs",
    "test/{unit,protocol,cli,fuzz,docs}/**/*.test.ts",
  ],
  mochaResult,
  { VRAMLINT_TEST_RESULT: mochaResult },
);

if (process.argv.includes("--no-editor")) {
  total.skipped += 1;
  notes.push("SKIPPED, editor: --no-editor was given");
} else {
  const editorResult = path.join(results, "editor.json");
  const required = process.env.VRAMLINT_EDITOR_TESTS === "required" ? ["--required"] : [];
  suite(
    "editor (real VS Code)",
    ["test/editor/run.mjs", "--result", editorResult, ...required],
    editorResult,
  );
}

rmSync(results, { recursive: true, force: true });
console.log("");
for (const note of notes) console.log(note);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed === 0 ? 0 : 1);
