import assert from "node:assert/strict";
import { script, uriOf } from "./support/scripts";
import { pushCapabilities, TestClient } from "./support/test-client";

describe("server life", () => {
  const clients: TestClient[] = [];
  const start = async (...args: Parameters<typeof TestClient.start>): Promise<TestClient> => {
    const client = await TestClient.start(...args);
    clients.push(client);
    return client;
  };
  afterEach(() => {
    for (const client of clients.splice(0)) client.kill();
  });

  it("says in initialize what it can do", async () => {
    const { result } = await start();
    assert.equal(result?.serverInfo?.name, "vramlint");
    assert.equal(result.capabilities.positionEncoding, "utf-16");
    assert.equal(result.capabilities.hoverProvider, true);
    assert.equal(result.capabilities.inlayHintProvider, true);
    assert.ok(result.capabilities.diagnosticProvider);
    assert.deepEqual(result.capabilities.codeActionProvider, {
      codeActionKinds: ["quickfix", "source.fixAll.vramlint", "notebook.source.fixAll.vramlint"],
    });
  });

  it("speaks over stdio without being told to", async () => {
    const client = await start({ arguments: [] });
    assert.ok(client.result);
  });

  it("answers a shutdown and then ends with 0", async () => {
    const client = await start();
    await client.open(uriOf("a.py"), script);
    await client.pull(uriOf("a.py"));
    assert.equal(await client.stop(), 0);
  });

  it("ends with 1 when exit comes without shutdown", async () => {
    const client = await start();
    const ended = client.ended();
    await client.connection.sendNotification("exit");
    assert.equal(await ended, 1);
  });

  it("ends when its client is gone", async () => {
    const client = await start();
    const ended = client.ended();
    client.process.stdin.end();
    assert.notEqual(await ended, null);
  });

  it("serves two clients in two processes without mixing them up", async () => {
    const [one, other] = await Promise.all([start(), start({ locale: "zh-cn" })]);
    const uri = uriOf("same-name.py");
    await Promise.all([one.open(uri, script), other.open(uri, "import torch\n")]);
    const [ones, others] = await Promise.all([one.pull(uri), other.pull(uri)]);
    assert.ok(ones.length > 0);
    assert.deepEqual(others, []);
  });

  it("finds the same after it was killed and started anew", async () => {
    const uri = uriOf("a.py");
    const first = await start();
    await first.open(uri, script);
    const before = await first.pull(uri);
    first.kill();
    const second = await start();
    await second.open(uri, script);
    assert.deepEqual(await second.pull(uri), before);
    const action = (await second.actionsFor(uri, before[0]!))[0];
    assert.ok(action?.edit, "a diagnostic from before the restart still carries its fix");
  });

  it("writes nothing but protocol messages to stdout", async () => {
    const client = await start({ capabilities: pushCapabilities });
    const errors: unknown[] = [];
    client.connection.onError((error) => errors.push(error));
    await client.open(uriOf("a.py"), script);
    await client.pushed(uriOf("a.py"));
    assert.deepEqual(errors, []);
  });
});
