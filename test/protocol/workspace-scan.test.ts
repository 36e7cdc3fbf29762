import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { CancellationTokenSource, FileChangeType } from "vscode-languageserver/node";
import type { ScanAnswer } from "../../server/src/lsp/scan-request";
import { rulesInScript, script } from "./support/scripts";
import { plain, pullCapabilities, TestClient } from "./support/test-client";

const capabilities = {
  ...pullCapabilities,
  workspace: { ...pullCapabilities.workspace, workspaceFolders: true },
};

describe("the workspace scan", () => {
  let root: string;
  let client: TestClient;
  beforeEach(() => {
    root = realpathSync(mkdtempSync(path.join(os.tmpdir(), "vramlint-scan-")));
  });
  afterEach(() => {
    client.kill();
    rmSync(root, { recursive: true, force: true });
  });

  const write = (name: string, text: string): void => {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  const uriOf = (name: string): string => pathToFileURL(path.join(root, name)).href;
  const start = async (setup: Parameters<typeof TestClient.start>[0] = {}): Promise<void> => {
    client = await TestClient.start({ capabilities, folders: [pathToFileURL(root).href], ...setup });
  };
  const scan = ({ token } = new CancellationTokenSource()): Promise<ScanAnswer> =>
    client.connection.sendRequest("vramlint/scanWorkspace", { workDoneToken: "scan" }, token);
  /** What is on display of a file: the last that was pushed. */
  const shown = (uri: string): unknown[] =>
    client.published.findLast((params) => params.uri === uri)?.diagnostics.map(({ code }) => code) ?? [];
  const filesShown = (): string[] =>
    [...new Set(client.published.map(({ uri }) => uri))].filter((uri) => shown(uri).length > 0).sort();
  const untilShown = (uri: string, codes: readonly string[]) =>
    client.until(() => (JSON.stringify(shown(uri)) === JSON.stringify(codes) ? true : undefined));
  const told = async (type: FileChangeType, ...names: string[]): Promise<void> => {
    const changes = names.map((name) => ({ uri: uriOf(name), type }));
    await client.connection.sendNotification("workspace/didChangeWatchedFiles", { changes });
  };

  it("shows findings of files that are not open, but for what git and the settings leave out", async () => {
    write("train.py", script);
    write("deep/er/train.py", script);
    write("clean.py", "import torch\n");
    write(".gitignore", "generated/\n");
    write("generated/train.py", script);
    write("pyproject.toml", '[tool.vramlint]\nexclude = ["old"]\n');
    write("old/train.py", script);
    write(".venv/lib/train.py", script);
    await start();
    const answer = await scan();
    assert.deepEqual(
      { ...answer },
      { checked: 3, files: 3, findings: 4, filesWithFindings: 2, unread: 0, isCancelled: false },
    );
    await untilShown(uriOf("train.py"), rulesInScript);
    assert.deepEqual(filesShown(), [uriOf("deep/er/train.py"), uriOf("train.py")]);
  });

  it("names the cells of notebooks", async () => {
    const cell = (source: string) => ({ cell_type: "code", metadata: {}, source, outputs: [] });
    const cells = [
      { cell_type: "markdown", metadata: {}, source: "#" },
      cell("import torch\n"),
      cell(script),
    ];
    write("train.ipynb", JSON.stringify({ cells, metadata: {}, nbformat: 4 }, undefined, 1));
    await start();
    await scan();
    await untilShown(uriOf("train.ipynb"), rulesInScript);
    const [first] = client.published.at(-1)?.diagnostics ?? [];
    assert.match(plain(first?.message), /^Cell 3: /);
  });

  it("leaves open files to themselves and takes them over when they are closed", async () => {
    write("train.py", script);
    await start();
    const uri = uriOf("train.py");
    await scan();
    await untilShown(uri, rulesInScript);
    await client.open(uri, script);
    await untilShown(uri, []);
    assert.equal((await client.pull(uri)).length, rulesInScript.length);
    assert.equal((await scan()).findings, rulesInScript.length, "they are counted all the same");
    assert.deepEqual(shown(uri), []);
    await client.close(uri);
    await untilShown(uri, rulesInScript);
  });

  it("follows files that change, come, go, and whose folder is renamed", async () => {
    write("train.py", "import torch\n");
    write("a/train.py", script);
    await start();
    await scan();
    write("train.py", script);
    await told(FileChangeType.Changed, "train.py");
    await untilShown(uriOf("train.py"), rulesInScript);
    write("new.py", script);
    await told(FileChangeType.Created, "new.py");
    await untilShown(uriOf("new.py"), rulesInScript);
    rmSync(path.join(root, "new.py"));
    await told(FileChangeType.Deleted, "new.py");
    await untilShown(uriOf("new.py"), []);
    renameSync(path.join(root, "a"), path.join(root, "b"));
    await client.connection.sendNotification("workspace/didRenameFiles", {
      files: [{ oldUri: uriOf("a"), newUri: uriOf("b") }],
    });
    await untilShown(uriOf("a/train.py"), []);
    await untilShown(uriOf("b/train.py"), rulesInScript);
  });

  it("looks again at what imports a changed file, also by way of another, and at who waited for a new one", async () => {
    const evaluate = "@torch.no_grad()\ndef evaluate(model, batch):\n    return model(batch).sum()\n";
    const loop =
      "model = torch.nn.Linear(4, 4)\nhistory = []\nfor epoch in range(9):\n    history.append(evaluate(model, data))\n";
    write("core.py", `import torch\n\n\n${evaluate}`);
    write("middle.py", "import torch\nfrom core import evaluate\n");
    write("train.py", `import torch\nfrom middle import evaluate\n\n${loop}`);
    write("early.py", `import torch\nfrom later import evaluate\n\n${loop}`);
    await start();
    await scan();
    assert.deepEqual(filesShown(), []);
    write("core.py", `import torch\n\n\n${evaluate.replace("@torch.no_grad()\n", "")}`);
    await told(FileChangeType.Changed, "core.py");
    await untilShown(uriOf("train.py"), ["loss-graph-retained"]);
    assert.deepEqual(shown(uriOf("early.py")), []);
    write("later.py", `import torch\n\n\n${evaluate.replace("@torch.no_grad()\n", "")}`);
    await told(FileChangeType.Created, "later.py");
    await untilShown(uriOf("early.py"), ["loss-graph-retained"]);
    rmSync(path.join(root, "core.py"));
    await told(FileChangeType.Deleted, "core.py");
    await untilShown(uriOf("train.py"), []);
  });

  it("knows an open file by whatever spelling of its address the client has", async () => {
    const name = "run+a (1)@home 显存.py";
    write(name, script);
    await start();
    await scan();
    const all = client.published.filter(({ diagnostics }) => diagnostics.length > 0);
    assert.equal(all.length, 1);
    const [{ uri: shownAs }] = all as [(typeof all)[0]];
    for (const spelling of [uriOf(name), shownAs, shownAs.replace("%2B", "+"), shownAs.replace("%40", "@")]) {
      await client.open(spelling, script);
      await untilShown(shownAs, []);
      await client.close(spelling);
      await untilShown(shownAs, rulesInScript);
    }
  });

  it("of two windows on one folder each shows everything and follows what the other saves", async () => {
    write("train.py", script);
    await start();
    const first = client;
    await scan();
    await start();
    await scan();
    const second = client;
    try {
      assert.deepEqual(shown(uriOf("train.py")), rulesInScript);
      write("train.py", script.replace("        torch.cuda.empty_cache()\n", ""));
      for (const window of [first, second]) {
        client = window;
        await told(FileChangeType.Changed, "train.py");
        await untilShown(uriOf("train.py"), ["eval-without-no-grad"]);
      }
    } finally {
      first.kill();
      client = second;
    }
  });

  it("follows nothing before a scan and after its findings were cleared", async () => {
    write("train.py", script);
    await start();
    await told(FileChangeType.Changed, "train.py");
    await scan();
    await untilShown(uriOf("train.py"), rulesInScript);
    await client.connection.sendNotification("vramlint/clearScan");
    await untilShown(uriOf("train.py"), []);
    const before = client.published.length;
    await told(FileChangeType.Changed, "train.py");
    await new Promise((resolve) => setTimeout(resolve, 400));
    assert.equal(client.published.length, before);
  });

  it("obeys the editor's settings of each folder, and settings that change", async () => {
    write("one/train.py", script);
    write("two/train.py", script);
    const folders = ["one", "two"].map((name) => uriOf(name));
    await start({ folders });
    client.settingsOf = (uri) => ({
      levels: { "empty-cache-in-loop": uri === folders[1] ? "off" : "error" },
    });
    await scan();
    await untilShown(uriOf("one/train.py"), rulesInScript);
    await untilShown(uriOf("two/train.py"), ["eval-without-no-grad"]);
    client.settingsOf = () => ({ enable: false });
    await client.changeSettings(undefined);
    await untilShown(uriOf("one/train.py"), []);
    await untilShown(uriOf("two/train.py"), []);
  });

  it("runs by itself where the settings ask for it, until they do not", async () => {
    write("train.py", script);
    await start({ settings: { scope: "workspace" } });
    await untilShown(uriOf("train.py"), rulesInScript);
    await client.changeSettings({ scope: "openFiles" });
    await untilShown(uriOf("train.py"), []);
  });

  it("says which files it could not read", async () => {
    write("broken.ipynb", "{");
    write("latin.py", "import torch\n");
    writeFileSync(path.join(root, "latin.py"), Buffer.from([0x78, 0x3d, 0xff, 0x0a]));
    await start();
    assert.equal((await scan()).unread, 2);
    await client.until(() => (/broken\.ipynb/.test(client.log.join("\n")) ? true : undefined));
  });

  it("answers null where no folder is open", async () => {
    await start({ folders: [] });
    assert.equal(await scan(), null);
  });

  describe("of 500 files", () => {
    const count = 500;
    beforeEach(() => {
      for (let index = 0; index < count; index++) write(`part${index % 10}/train${index}.py`, script);
    });

    it("answers edits in between", async () => {
      await start();
      const uri = uriOf("open.py");
      await client.open(uri, script);
      await client.pull(uri);
      const scanning = scan();
      await client.until(() => client.published[0]);
      let slowest = 0;
      for (let round = 0; round < 20; round++) {
        await client.replace(
          uri,
          round % 2 === 0 ? "range(3)" : "range(4)",
          round % 2 === 0 ? "range(4)" : "range(3)",
        );
        const begun = performance.now();
        await client.pull(uri);
        slowest = Math.max(slowest, performance.now() - begun);
      }
      assert.ok(filesShown().length < count, "the scan was still under way");
      // Generous: machines that run tests are busy. A scan in one go would take seconds.
      assert.ok(slowest < 500, `${slowest} ms`);
      assert.equal((await scanning).filesWithFindings, count);
    });

    it("stops when cancelled and keeps what it found", async () => {
      await start();
      const source = new CancellationTokenSource();
      const scanning = scan(source);
      await client.until(() => client.published[20]);
      const cancelled = performance.now();
      source.cancel();
      const answer = await scanning;
      const took = performance.now() - cancelled;
      assert.ok(answer.isCancelled);
      assert.ok(answer.checked < count);
      console.log(`        a scan ends ${took.toFixed(0)} ms after it was cancelled`);
      assert.ok(took < 100, `${took} ms`);
      assert.equal(filesShown().length, answer.filesWithFindings);
    });
  });

  it("tells its progress", async () => {
    for (let index = 0; index < 60; index++) write(`train${index}.py`, script);
    await start();
    const kinds: string[] = [];
    const percentages: number[] = [];
    client.connection.onNotification(
      "$/progress",
      ({ value }: { value: { kind: string; percentage?: number } }) => {
        kinds.push(value.kind);
        if (value.kind === "report" && value.percentage !== undefined) percentages.push(value.percentage);
      },
    );
    await scan();
    assert.equal(kinds[0], "begin");
    assert.equal(kinds.at(-1), "end");
    assert.ok(percentages.length > 2);
    assert.deepEqual(
      percentages,
      [...percentages].sort((a, b) => a - b),
    );
  });
});
