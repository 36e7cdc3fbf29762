/** The language server for browsers: no Node around it, one file at a time. */
import assert from "node:assert/strict";
import type { DocumentDiagnosticReport, Hover, InitializeResult } from "vscode-languageserver/node";
import { rulesInScript, script, uriOf } from "./support/scripts";
import { pullCapabilities } from "./support/test-client";
import { startWorker } from "./support/worker-client";
import type { WorkerClient } from "./support/worker-client";

describe("the server in a worker", () => {
  const uri = "vscode-vfs://github/somebody/project/train.py";
  let client: WorkerClient;
  let logged: string[];

  beforeEach(async () => {
    client = startWorker();
    logged = [];
    const { connection } = client;
    connection.onRequest("workspace/configuration", ({ items }: { items: unknown[] }) =>
      items.map(() => null),
    );
    connection.onRequest("client/registerCapability", () => null);
    connection.onRequest("workspace/diagnostic/refresh", () => null);
    connection.onNotification("window/logMessage", ({ type, message }: { type: number; message: string }) => {
      if (type <= 2) logged.push(message);
    });
    const result = await connection.sendRequest<InitializeResult>("initialize", {
      processId: null,
      rootUri: null,
      workspaceFolders: [{ uri: "vscode-vfs://github/somebody/project", name: "project" }],
      capabilities: pullCapabilities,
      initializationOptions: { rulePage: "command:open?{rule}" },
    });
    assert.equal(result.serverInfo?.name, "vramlint");
    await connection.sendNotification("initialized", {});
  });
  afterEach(() => client.end());

  const open = (text: string, at = uri) =>
    client.connection.sendNotification("textDocument/didOpen", {
      textDocument: { uri: at, languageId: "python", version: 1, text },
    });
  const pull = (at = uri) =>
    client.connection.sendRequest<DocumentDiagnosticReport>("textDocument/diagnostic", {
      textDocument: { uri: at },
    });

  it("finds what the server on a disk finds, with the address of each page", async () => {
    await open(script);
    const report = await pull();
    assert.ok(report.kind === "full");
    const found = report.items;
    assert.deepEqual(found.map(({ code }) => code).sort(), rulesInScript);
    for (const { code, codeDescription } of found) {
      assert.equal(codeDescription?.href, `command:open?${String(code)}`);
    }
    assert.deepEqual(logged, []);
  });

  it("estimates a model", async () => {
    await open(script);
    const line = script.split("\n").findIndex((text) => text.startsWith("class Net"));
    const hover = await client.connection.sendRequest<Hover | null>("textDocument/hover", {
      textDocument: { uri },
      position: { line, character: 7 },
    });
    // 1000 × 1000 + 1000, and 1000 × 10 + 10.
    assert.match(JSON.stringify(hover?.contents), /1,011,010/);
  });

  it("checks a file whose imports it cannot follow", async () => {
    await open(script.replace(/class Net[\s\S]*?\n\n\n/, "from net import Net\n\n\n"), uriOf("train.py"));
    await open("import torch\n", uriOf("net.py"));
    const report = await pull(uriOf("train.py"));
    const found = report.kind === "full" ? report.items.map(({ code }) => code).sort() : [];
    assert.deepEqual(found, rulesInScript);
  });

  it("has no files to check as a workspace", async () => {
    const answer = await client.connection.sendRequest("vramlint/scanWorkspace", { workDoneToken: "scan" });
    assert.equal(answer, null);
    assert.deepEqual(logged, []);
  });
});
