import assert from "node:assert/strict";
import type { Hover } from "vscode-languageserver/node";
import { script, uriOf } from "./support/scripts";
import { plain, pullCapabilities, TestClient } from "./support/test-client";

/** Net of the script: 1000·1000 + 1000 + 1000·10 + 10 parameters in fp32, Adam. */
const states = "15.4 MiB";

describe("what a model needs", () => {
  const uri = uriOf("train.py");
  let client: TestClient;
  const start = async (text = script, ...args: Parameters<typeof TestClient.start>): Promise<void> => {
    client = await TestClient.start(...args);
    await client.open(uri, text);
  };
  afterEach(() => client.kill());

  const textOf = (hover: Hover | null): string => {
    const contents = hover?.contents;
    assert.ok(typeof contents === "object" && "value" in contents, "there is a hover");
    return contents.value;
  };

  it("shows over the class, with parameters, gradients and optimizer state", async () => {
    await start();
    const hover = await client.hover(uri, client.positionOf(uri, "class Net", 7));
    const text = textOf(hover);
    assert.match(text, /1,011,010 parameters, all trainable/);
    assert.match(text, /\| Parameters \| 3\.9 MiB \|/);
    assert.match(text, /\| Gradients \| 3\.9 MiB \|/);
    assert.match(text, /\| Optimizer state \(.*[aA]dam.*\) \| 7\.7 MiB \|/);
    assert.ok(text.includes(`| ${states} |`), text);
    assert.deepEqual(hover?.range?.start, client.positionOf(uri, "Net(nn.Module)"));
  });

  it("shows over the expression that makes the model", async () => {
    await start();
    const text = textOf(await client.hover(uri, client.positionOf(uri, "Net().cuda()", 1)));
    assert.match(text, /1,011,010 parameters/);
  });

  it("says what is unknown instead of counting it as nothing", async () => {
    await start();
    const text = textOf(await client.hover(uri, client.positionOf(uri, "class Net", 7)));
    assert.match(text, /\| Peak of a training step \| unknown \|/);
  });

  it("says at least, and where, when a layer is not understood", async () => {
    const layer = "self.head = nn.Linear(1000, 10)";
    await start(script.replace(layer, `${layer}\n        self.extra = unknown_layer()`));
    const text = textOf(await client.hover(uri, client.positionOf(uri, "class Net", 7)));
    assert.match(text, /at least 3\.9 MiB/);
    assert.match(text, /line 12/);
  });

  it("shows nothing elsewhere", async () => {
    await start();
    assert.equal(await client.hover(uri, client.positionOf(uri, "import torch", 8)), null);
    assert.equal(await client.hover(uri, { line: 9999, character: 9999 }), null);
    assert.equal(await client.hover(uriOf("unknown.py"), { line: 0, character: 0 }), null);
  });

  it("comes without marks for a client that shows plain text", async () => {
    const textDocument = {
      ...pullCapabilities.textDocument,
      hover: { contentFormat: ["plaintext" as const] },
    };
    await start(script, { capabilities: { ...pullCapabilities, textDocument } });
    const text = textOf(await client.hover(uri, client.positionOf(uri, "class Net", 7)));
    assert.match(text, /^Parameters: 3\.9 MiB$/m);
    assert.doesNotMatch(text, /[|*`]/);
  });

  it("stands as a hint behind the class's colon", async () => {
    await start();
    const hints = await client.inlayHints(uri);
    assert.equal(hints.length, 1);
    assert.deepEqual(hints[0]?.position, client.positionOf(uri, "class Net(nn.Module):", 21));
    assert.equal(hints[0].label, `≈ ${states} of model states`);
  });

  it("stands behind the header, against the budget, with the peak", async () => {
    const header =
      "# vram: budget=64MiB, batch=32, input=float32[B,1000], target=int64[B]<10\n# vram: loss=cross_entropy\n";
    await start(header + script);
    const hint = (await client.inlayHints(uri)).find(({ position }) => position.line === 1);
    assert.ok(hint, "a hint on the header's last line");
    assert.equal(hint.position.character, "# vram: loss=cross_entropy".length);
    assert.match(plain(hint.label), /^≈ \d+\.\d of 64\.0 MiB \(\d+ %\), peak (at line \d+|in step)$/);
    assert.ok(plain(hint.label).length <= 43, "VS Code cuts longer hints");
    const text = textOf(await client.hover(uri, { line: 0, character: 17 }));
    assert.match(text, /Effective batch: 32 × 1 accumulation step × 1 device = 32/);
    assert.doesNotMatch(text, /\| unknown \|/);
  });

  it("follows edits and settings", async () => {
    await start();
    await client.replace(uri, "nn.Linear(1000, 1000)", "nn.Linear(1000, 2000)");
    const [edited] = await client.inlayHints(uri);
    assert.ok(edited && edited.label !== `≈ ${states} of model states`);
    await client.changeSettings({ inlayHints: { model: false } });
    assert.deepEqual(await client.inlayHints(uri), []);
  });

  it("is in Chinese for a Chinese client", async () => {
    await start(script, { locale: "zh-cn" });
    assert.match(textOf(await client.hover(uri, client.positionOf(uri, "class Net", 7))), /1,011,010 个参数/);
    assert.match(plain((await client.inlayHints(uri))[0]?.label), /参数、梯度与优化器状态/);
  });
});
