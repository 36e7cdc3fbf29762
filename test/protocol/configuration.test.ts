import assert from "node:assert/strict";
import { DiagnosticSeverity } from "vscode-languageserver/node";
import { rulesInScript, script, uriOf } from "./support/scripts";
import { plain, pushCapabilities, TestClient } from "./support/test-client";

describe("configuration", () => {
  const uri = uriOf("train.py");
  let client: TestClient;
  const start = async (...args: Parameters<typeof TestClient.start>): Promise<void> => {
    client = await TestClient.start(...args);
    await client.open(uri, script);
  };
  afterEach(() => client.kill());
  const codes = async (of = uri) => (await client.pull(of)).map(({ code }) => code).sort();

  it("silences a rule and changes the level of another", async () => {
    await start({
      settings: { levels: { "empty-cache-in-loop": "off", "eval-without-no-grad": "information" } },
    });
    const items = await client.pull(uri);
    assert.deepEqual(
      items.map(({ code }) => code),
      ["eval-without-no-grad"],
    );
    assert.equal(items[0]?.severity, DiagnosticSeverity.Information);
  });

  it("switches everything off", async () => {
    await start({ settings: { enable: false } });
    assert.deepEqual(await codes(), []);
    assert.deepEqual(await client.inlayHints(uri), []);
  });

  it("takes effect while running, and asks the client to pull again", async () => {
    await start();
    assert.deepEqual(await codes(), rulesInScript);
    await client.changeSettings({ levels: { "empty-cache-in-loop": "off" } });
    await client.until(() => (client.refreshed.diagnostics > 0 ? true : undefined));
    assert.deepEqual(await codes(), ["eval-without-no-grad"]);
  });

  it("is asked for each resource", async () => {
    client = await TestClient.start();
    const other = uriOf("other/train.py");
    client.settingsOf = (of) => (of === other ? { enable: false } : {});
    await client.open(uri, script);
    await client.open(other, script);
    assert.deepEqual(await codes(uri), rulesInScript);
    assert.deepEqual(await codes(other), []);
  });

  it("survives settings of the wrong type", async () => {
    const wrong: unknown[] = [
      { enable: "no", levels: ["off"], inlayHints: 3, language: 5, run: {} },
      { levels: { "empty-cache-in-loop": 7, "eval-without-no-grad": "loud", "no-such-rule": "off" } },
      "everything",
      [1, 2, 3],
      null,
      false,
    ];
    await start();
    for (const settings of wrong) {
      await client.changeSettings(settings);
      assert.deepEqual(await codes(), rulesInScript, JSON.stringify(settings));
      assert.equal((await client.inlayHints(uri)).length, 1);
    }
  });

  it("may come with initialize and with the notification where it cannot be asked for", async () => {
    const settings = { levels: { "empty-cache-in-loop": "off" } };
    await start({ capabilities: pushCapabilities, initializationOptions: { settings } });
    const first = await client.pushed(uri);
    assert.deepEqual(
      first.diagnostics.map(({ code }) => code),
      ["eval-without-no-grad"],
    );
    client.published.length = 0;
    await client.connection.sendNotification("workspace/didChangeConfiguration", {
      settings: { vramlint: { levels: { "eval-without-no-grad": "off" } } },
    });
    const second = await client.pushed(uri);
    assert.deepEqual(
      second.diagnostics.map(({ code }) => code),
      ["empty-cache-in-loop"],
    );
  });

  it("has a language that wins over the client's", async () => {
    await start({ locale: "en", settings: { language: "zh-cn" } });
    for (const { message } of await client.pull(uri)) assert.match(plain(message), /\p{Script=Han}/u);
    await client.changeSettings({ language: "auto" });
    for (const { message } of await client.pull(uri)) assert.doesNotMatch(plain(message), /\p{Script=Han}/u);
  });

  it("with run: onSave keeps what was found until the file is saved", async () => {
    await start({ settings: { run: "onSave" } });
    const first = await client.report(uri);
    assert.ok(first.kind === "full" && first.items.length > 0);
    await client.change(uri, [{ text: "import torch\n" }]);
    assert.equal((await client.report(uri, first.resultId)).kind, "unchanged");
    await client.save(uri);
    await client.until(() => (client.refreshed.diagnostics > 0 ? true : undefined));
    const saved = await client.report(uri, first.resultId);
    assert.ok(saved.kind === "full");
    assert.deepEqual(saved.items, []);
  });

  it("with run: onSave pushes when the file is saved", async () => {
    await start({ capabilities: pushCapabilities, initializationOptions: { settings: { run: "onSave" } } });
    await client.pushed(uri);
    client.published.length = 0;
    await client.change(uri, [{ text: "import torch\n" }]);
    await client.hover(uri, { line: 0, character: 0 });
    await client.save(uri);
    const next = await client.pushed(uri);
    assert.equal(next.version, 2);
    assert.equal(client.published.length, 1);
  });

  it("shows in the status that our own client asks for", async () => {
    await start({ initializationOptions: { status: true } });
    const stateOf = (of: string, state: string) =>
      client.until(() => client.statuses.find((status) => status.uri === of && status.state === state));
    await client.pull(uri);
    assert.equal((await stateOf(uri, "analysed")).findings, rulesInScript.length);
    await client.open(uriOf("notes.py"), "words = []\n");
    await client.pull(uriOf("notes.py"));
    await stateOf(uriOf("notes.py"), "not-training");
    await client.open(uriOf("large.py"), "import torch\n".repeat(90_000));
    await client.pull(uriOf("large.py"));
    await stateOf(uriOf("large.py"), "too-large");
    await client.changeSettings({ enable: false });
    await client.pull(uri);
    await stateOf(uri, "disabled");
  });
});
