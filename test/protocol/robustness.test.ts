import assert from "node:assert/strict";
import { CancellationTokenSource, LSPErrorCodes, ResponseError } from "vscode-languageserver/node";
import { rulesInScript, script, uriOf } from "./support/scripts";
import { TestClient } from "./support/test-client";

describe("bad input", () => {
  const uri = uriOf("train.py");
  let client: TestClient;
  beforeEach(async () => {
    client = await TestClient.start();
  });
  afterEach(() => client.kill());

  const stillWorks = async (): Promise<void> => {
    const own = uriOf("still-works.py");
    await client.open(own, script);
    assert.deepEqual((await client.pull(own)).map(({ code }) => code).sort(), rulesInScript);
  };

  const texts: Record<string, string> = {
    empty: "",
    "a byte order mark": "\ufeffimport torch\n",
    "null characters": "import torch\0\0\nx = \0\n",
    "lone surrogates": 'x = "\ud800"\n\udfff = 3\n',
    "only brackets, very deep": "(".repeat(20_000),
    "closed brackets, very deep": "x = " + "[".repeat(20_000) + "]".repeat(20_000) + "\n",
    "a very long expression": "x = " + "a.b(".repeat(5_000) + ")".repeat(5_000) + "\n",
    "a very long line": `x = "${"y".repeat(500_000)}"\n`,
    "deep indentation": Array.from({ length: 300 }, (_, depth) => `${" ".repeat(depth)}if x:\n`).join(""),
    "another language": "<?xml version='1.0'?><a b='c'>{};;\n",
    "half a file": script.slice(0, script.length / 2),
    "old Mac line ends": script.replaceAll("\n", "\r"),
  };
  for (const [name, text] of Object.entries(texts)) {
    it(`survives ${name}`, async () => {
      await client.open(uri, text);
      await client.pull(uri);
      await client.hover(uri, { line: 0, character: 1 });
      await client.inlayHints(uri);
      await client.actions(uri, { start: { line: 0, character: 0 }, end: { line: 9, character: 0 } });
      assert.deepEqual(
        client.log.filter((line) => /failed|broke|could not|unhandled/.test(line)),
        [],
      );
      await stillWorks();
    });
  }

  it("finds the same with every kind of line end", async () => {
    for (const lineEnd of ["\n", "\r\n", "\r"]) {
      await client.open(uri, script.replaceAll("\n", lineEnd));
      const items = await client.pull(uri);
      assert.deepEqual(items.map(({ code }) => code).sort(), rulesInScript, JSON.stringify(lineEnd));
      const line = client.positionOf(uri, "output = model(data)").line;
      assert.ok(items.some(({ range }) => range.start.line === line));
    }
  });

  it("survives positions that are nowhere and ranges that are upside down", async () => {
    await client.open(uri, script);
    for (const position of [
      { line: -1, character: -1 },
      { line: 1e9, character: 0 },
      { line: 3, character: 2147483647 },
    ]) {
      await client.hover(uri, position);
      await client.actions(uri, { start: position, end: position });
    }
    await client.connection.sendNotification("textDocument/didChange", {
      textDocument: { uri, version: 2 },
      contentChanges: [
        { range: { start: { line: 9e9, character: 0 }, end: { line: 0, character: 0 } }, text: "" },
      ],
    });
    await client.pull(uri);
    await stillWorks();
  });

  it("survives messages that make no sense", async () => {
    const { connection } = client;
    await connection.sendNotification("textDocument/didChange", {
      textDocument: { uri, version: 9 },
      contentChanges: [],
    });
    await connection.sendNotification("textDocument/didClose", {
      textDocument: { uri: uriOf("never-opened.py") },
    });
    await connection.sendNotification("textDocument/didOpen", { textDocument: null });
    await connection.sendNotification("notebookDocument/didChange", { notebookDocument: {}, change: {} });
    await connection.sendNotification("no/such/notification", {});
    await assert.rejects(connection.sendRequest("no/such/request", {}));
    for (const params of [{}, { textDocument: {} }, { textDocument: { uri: 7 } }]) {
      await connection.sendRequest("textDocument/hover", params);
      await connection.sendRequest("textDocument/diagnostic", params);
      await connection.sendRequest("textDocument/codeAction", params);
      await connection.sendRequest("textDocument/inlayHint", params);
    }
    await stillWorks();
  });

  it("takes data that is not ours for none", async () => {
    await client.open(uri, script);
    const [item] = await client.pull(uri);
    assert.ok(item);
    for (const data of [
      null,
      7,
      "x",
      [],
      { version: 1 },
      { version: 1, fixes: [null, {}, { title: 3, edit: 4 }] },
    ]) {
      const actions = await client.actionsFor(uri, { ...item, data });
      for (const { title } of actions) assert.equal(typeof title, "string");
    }
  });

  it("survives a document that is opened twice and one that is closed twice", async () => {
    await client.open(uri, "import torch\n");
    await client.open(uri, script);
    assert.deepEqual((await client.pull(uri)).map(({ code }) => code).sort(), rulesInScript);
    await client.close(uri);
    await client.connection.sendNotification("textDocument/didClose", { textDocument: { uri } });
    await stillWorks();
  });

  it("honours a cancellation", async () => {
    await client.open(uri, script.repeat(200));
    const sources = Array.from({ length: 20 }, () => new CancellationTokenSource());
    const requests = sources.map(({ token }) =>
      client.connection.sendRequest("textDocument/diagnostic", { textDocument: { uri } }, token).then(
        () => "answered",
        (error: unknown) => (error instanceof ResponseError ? error.code : error),
      ),
    );
    for (const source of sources) source.cancel();
    const outcomes = await Promise.all(requests);
    assert.ok(outcomes.includes(LSPErrorCodes.RequestCancelled), String(outcomes));
    await stillWorks();
  });

  it("keeps thousands of open documents apart", async () => {
    for (let index = 0; index < 1000; index++) await client.open(uriOf(`many/${index}.py`), "import torch\n");
    await stillWorks();
    for (let index = 0; index < 1000; index++) await client.close(uriOf(`many/${index}.py`));
    await stillWorks();
  });
});
