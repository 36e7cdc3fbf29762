/** The server's process as a person notices it: how long it takes to answer, and what happens when it is killed. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import * as vscode from "vscode";
import {
  closeEverything,
  diagnosticOf,
  diagnosticsWhere,
  fileInProject,
  hoverText,
  open,
  ours,
  positionOf,
  replace,
  revert,
  ruleOf,
  until,
} from "./editor";
import { ask } from "./pictures";

/** Milliseconds: a person has not yet looked at the place where findings stand. */
const comeBackLimit = 2_000;
/** Milliseconds, far above what is usual: on a machine that does many other things at once this must hold too. */
const answerLimit = 1_500;
const samples = 25;

/** The servers that this extension host has started; Linux lists processes as files. */
function serverProcesses(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((id) => {
      try {
        const parent = / \(.*\) \S (\d+) /s.exec(` ${readFileSync(`/proc/${id}/stat`, "utf8")}`)?.[1];
        const program = readFileSync(`/proc/${id}/cmdline`, "utf8");
        return Number(parent) === process.pid && program.includes("launch.js");
      } catch {
        // It ended meanwhile.
        return false;
      }
    });
}

/** Says again and again that something may have changed, for what no event tells of. */
const often: vscode.Event<void> = (listener) => {
  const timer = setInterval(listener, 10);
  return new vscode.Disposable(() => clearInterval(timer));
};

function summary(milliseconds: readonly number[]): { readonly p50: number; readonly p95: number } {
  const sorted = [...milliseconds].sort((a, b) => a - b);
  const at = (share: number): number => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
  return { p50: at(0.5), p95: at(0.95) };
}

describe("the server's process", () => {
  let editor: vscode.TextEditor;
  beforeEach(async () => {
    editor = await open("train.py");
    await diagnosticOf(editor.document.uri, "eval-without-no-grad");
  });
  afterEach(async () => {
    await revert(editor);
    await closeEverything();
  });

  it("is started again when it is killed, and says the same", async function () {
    if (process.platform !== "linux") this.skip();
    const { document } = editor;
    const before = ours(document.uri);
    const [killed, ...others] = serverProcesses();
    assert.ok(killed !== undefined && others.length === 0, "one server is running");
    let wasEmptied = false;
    const watching = vscode.languages.onDidChangeDiagnostics(() => {
      wasEmptied ||= ours(document.uri).length === 0;
    });
    const start = performance.now();
    process.kill(killed, "SIGKILL");
    try {
      await until(
        [often],
        () => serverProcesses().some((id) => id !== killed),
        "another process",
        comeBackLimit,
      );
      const after = await until(
        [vscode.languages.onDidChangeDiagnostics],
        () => (wasEmptied && ours(document.uri).length === before.length ? ours(document.uri) : undefined),
        "its findings",
      );
      const delay = Math.round(performance.now() - start);
      const told = ({ message, range }: vscode.Diagnostic) => ({ message, range });
      assert.deepEqual(after.map(told), before.map(told));
      if (this.test !== undefined) this.test.title += `; its findings are back after ${delay} ms`;
      assert.ok(delay <= comeBackLimit, `${delay} ms`);
      await replace(editor, "        torch.cuda.empty_cache()\n", "");
      const isGone = (found: vscode.Diagnostic[]) =>
        found.length > 0 && found.every((of) => ruleOf(of) !== "empty-cache-in-loop");
      await diagnosticsWhere(document.uri, isGone, "it follows typing");
    } finally {
      watching.dispose();
    }
  });

  it("answers while somebody types", async function () {
    const { document } = editor;
    const count = ours(document.uri).length;
    const line = "        torch.cuda.empty_cache()\n";
    const edits: number[] = [];
    const hovers: number[] = [];
    for (let sample = 0; sample < samples; sample++) {
      const isThere = document.getText().includes(line);
      const start = performance.now();
      if (isThere) await replace(editor, line, "");
      else await replace(editor, "        optimizer.step()\n", `        optimizer.step()\n${line}`);
      await diagnosticsWhere(
        document.uri,
        (found) => found.length === (isThere ? count - 1 : count),
        "findings of the new text",
      );
      edits.push(performance.now() - start);
      const asked = performance.now();
      assert.match(await hoverText(document.uri, positionOf(document, "class ResNet", 7)), /parameters/);
      hovers.push(performance.now() - asked);
    }
    const [edit, hover] = [summary(edits), summary(hovers)];
    if (this.test !== undefined)
      this.test.title += `: an edit's findings come after ${edit.p50} ms (95th percentile ${edit.p95} ms), a hover after ${hover.p50} ms (${hover.p95} ms)`;
    assert.ok(edit.p95 <= answerLimit, `edit: ${edit.p95} ms`);
    assert.ok(hover.p95 <= answerLimit, `hover: ${hover.p95} ms`);
  });

  it("underlines while somebody types", async function () {
    if (process.env["VRAMLINT_PICTURES"] === undefined) this.skip();
    const { document } = editor;
    const call = positionOf(document, "torch.cuda.empty_cache()", "torch.cuda.empty_cache".length);
    editor.selection = new vscode.Selection(call, call);
    editor.revealRange(editor.selection, vscode.TextEditorRevealType.InCenter);
    await vscode.commands.executeCommand("workbench.action.focusActiveEditorGroup");
    const squiggles = ".squiggly-warning, .squiggly-error";
    await ask({ wait: squiggles });
    const count = ours(document.uri).length;
    const delays: number[] = [];
    for (let sample = 0; sample < samples; sample++) {
      const isNamed = sample % 2 === 0;
      delays.push(Number(await ask({ press: isNamed ? "x" : "Backspace", changed: squiggles })));
      const wanted = isNamed ? count - 1 : count;
      await diagnosticsWhere(document.uri, (found) => found.length === wanted, "findings of the new text");
    }
    const { p50, p95 } = summary(delays);
    if (this.test !== undefined)
      this.test.title += `: a key's squiggle is there after ${p50} ms (95th percentile ${p95} ms)`;
    assert.ok(p95 <= answerLimit, `${p95} ms`);
  });

  it("reads a file anew that another program changed", async () => {
    const script = fileInProject("other/changed.py");
    const text = editor.document.getText();
    await vscode.workspace.fs.writeFile(script, Buffer.from(text));
    try {
      await vscode.commands.executeCommand("vscode.open", script);
      await diagnosticOf(script, "empty-cache-in-loop");
      await vscode.workspace.fs.writeFile(
        script,
        Buffer.from(text.replace(/ *torch\.cuda\.empty_cache\(\)\n/, "")),
      );
      await diagnosticsWhere(
        script,
        (found) => found.length > 0 && found.every((of) => ruleOf(of) !== "empty-cache-in-loop"),
        "the finding goes",
      );
    } finally {
      await closeEverything();
      await vscode.workspace.fs.delete(vscode.Uri.joinPath(script, ".."), { recursive: true });
    }
  });
});
