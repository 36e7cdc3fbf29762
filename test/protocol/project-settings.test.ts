import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { DiagnosticSeverity } from "vscode-languageserver/node";
import type {
  ClientCapabilities,
  DidChangeWatchedFilesRegistrationOptions,
} from "vscode-languageserver/node";
import { TemporaryFolder } from "../unit/workspace/folder";
import { rulesInScript, script } from "./support/scripts";
import { plain, pullCapabilities, TestClient } from "./support/test-client";

const watching: ClientCapabilities = {
  ...pullCapabilities,
  workspace: { ...pullCapabilities.workspace, didChangeWatchedFiles: { dynamicRegistration: true } },
};

describe("settings files in the editor", () => {
  let client: TestClient;
  let folder: TemporaryFolder;
  const uriOf = (name: string): string => pathToFileURL(folder.join(name)).href;
  const codes = async (): Promise<unknown[]> =>
    (await client.pull(uriOf("train.py"))).map(({ code }) => code).sort();
  const start = async (text: string, settings?: unknown): Promise<void> => {
    folder = new TemporaryFolder({ "vramlint.toml": text });
    client = await TestClient.start({ capabilities: watching, settings });
    await client.open(uriOf("train.py"), script);
  };
  /** As an editor tells it. */
  const write = async (text: string): Promise<void> => {
    folder.write("vramlint.toml", text);
    await client.connection.sendNotification("workspace/didChangeWatchedFiles", {
      changes: [{ uri: uriOf("vramlint.toml"), type: 2 }],
    });
  };
  afterEach(() => {
    client.kill();
    folder.remove();
  });

  it("choose rules, and the editor's levels win over theirs", async () => {
    await start('ignore = ["empty-cache-in-loop"]\nlevels = { eval-without-no-grad = "warning" }\n');
    const items = await client.pull(uriOf("train.py"));
    assert.deepEqual(
      items.map(({ code, severity }) => [code, severity]),
      [["eval-without-no-grad", DiagnosticSeverity.Warning]],
    );
    await client.changeSettings({
      levels: { "empty-cache-in-loop": "error", "eval-without-no-grad": "off" },
    });
    await client.until(() => (client.refreshed.diagnostics > 0 ? true : undefined));
    assert.deepEqual(await codes(), ["empty-cache-in-loop"]);
  });

  it("are read again when they change", async () => {
    await start("");
    assert.deepEqual(await codes(), rulesInScript);
    await write('exclude = ["train.py"]\n');
    await client.until(() => (client.refreshed.diagnostics > 0 ? true : undefined));
    assert.deepEqual(await codes(), []);
    await write('[per-file-ignores]\n"*.py" = ["gradient-modes"]\n');
    assert.deepEqual(await codes(), ["empty-cache-in-loop"]);
  });

  it("above the workspace's folders are watched too, also of folders that come later", async () => {
    folder = new TemporaryFolder({ "project/train.py": script, "other/deep/train.py": script });
    const { workspace } = watching;
    const watchesOutside = { dynamicRegistration: true, relativePatternSupport: true };
    client = await TestClient.start({
      capabilities: {
        ...watching,
        workspace: { ...workspace, workspaceFolders: true, didChangeWatchedFiles: watchesOutside },
      },
      folders: [uriOf("project")],
    });
    const outside = (): string[] =>
      client.registered
        .filter(({ id }) => !client.unregistered.includes(id))
        .flatMap(({ registerOptions }) => {
          const { watchers } = registerOptions as Partial<DidChangeWatchedFilesRegistrationOptions>;
          return watchers ?? [];
        })
        .flatMap(({ globPattern }) =>
          typeof globPattern === "string" || typeof globPattern.baseUri !== "string"
            ? []
            : [globPattern.baseUri],
        );
    await client.until(() => (outside().includes(uriOf("").replace(/\/$/, "")) ? true : undefined));
    assert.ok(!outside().includes("file://"));
    await client.connection.sendNotification("workspace/didChangeWorkspaceFolders", {
      event: { added: [{ uri: uriOf("other/deep"), name: "deep" }], removed: [] },
    });
    await client.until(() =>
      outside().includes(uriOf("other")) && client.unregistered.length === 1 ? true : undefined,
    );
    await client.open(uriOf("project/train.py"), script);
    const found = async () => (await client.pull(uriOf("project/train.py"))).map(({ code }) => code).sort();
    assert.deepEqual(await found(), rulesInScript);
    folder.write("vramlint.toml", 'ignore = ["empty-cache-in-loop"]\n');
    await client.connection.sendNotification("workspace/didChangeWatchedFiles", {
      changes: [{ uri: uriOf("vramlint.toml"), type: 1 }],
    });
    await client.until(() => (client.refreshed.diagnostics > 0 ? true : undefined));
    assert.deepEqual(await found(), ["eval-without-no-grad"]);
  });

  it("give the language where the editor leaves it open", async () => {
    await start('language = "zh-cn"\n');
    for (const { message } of await client.pull(uriOf("train.py")))
      assert.match(plain(message), /\p{Script=Han}/u);
    await client.changeSettings({ language: "en" });
    for (const { message } of await client.pull(uriOf("train.py")))
      assert.doesNotMatch(plain(message), /\p{Script=Han}/u);
  });

  it("have their own mistakes shown, and taken back", async () => {
    await start('ignore = []\nselct = ["graph"]\n');
    const uri = uriOf("vramlint.toml");
    const { diagnostics } = await client.pushed(uri);
    assert.deepEqual(diagnostics, [
      {
        range: { start: { line: 1, character: 0 }, end: { line: 1, character: 5 } },
        severity: DiagnosticSeverity.Error,
        source: "vramlint",
        message: "There is no setting `selct`; `select` is probably meant.",
      },
    ]);
    assert.deepEqual(await codes(), rulesInScript);
    await write("ignore = []\n");
    await client.pushed(uri, (params) => params.diagnostics.length === 0);
  });

  it("are read anew with each opened document where the client does not watch", async () => {
    folder = new TemporaryFolder({ "vramlint.toml": "" });
    client = await TestClient.start();
    await client.open(uriOf("train.py"), script);
    assert.deepEqual(await codes(), rulesInScript);
    folder.write("vramlint.toml", 'ignore = ["all"]\n');
    await client.open(uriOf("other.py"), script);
    assert.deepEqual(await codes(), []);
  });
});
