/** Figures between the lines that nobody sees unless the settings want them: hints of layers, code lenses. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import type { CodeLens } from "vscode-languageserver/node";
import { uriOf } from "./support/scripts";
import { plain, TestClient } from "./support/test-client";

const example = readFileSync(path.join(__dirname, "../../test-fixtures/example/train.py"), "utf8");

describe("figures between the lines", () => {
  const uri = uriOf("train.py");
  let client: TestClient;
  const start = async (
    settings: unknown,
    setup: Parameters<typeof TestClient.start>[0] = {},
  ): Promise<void> => {
    client = await TestClient.start({ settings, ...setup });
    await client.open(uri, example);
  };
  afterEach(() => client.kill());

  const hintsBehind = async (piece: string): Promise<string[]> => {
    const { line } = client.positionOf(uri, piece);
    const hints = await client.inlayHints(uri);
    return hints.filter(({ position }) => position.line === line).map(({ label }) => plain(label));
  };
  const lenses = () =>
    client.connection.sendRequest<CodeLens[]>("textDocument/codeLens", { textDocument: { uri } });

  it("are not there by default", async () => {
    await start({});
    assert.deepEqual(await hintsBehind("self.stem = "), []);
    assert.deepEqual(await lenses(), []);
  });

  it("show each layer's parameters and what it keeps", async () => {
    await start({ inlayHints: { layers: true } });
    // The input of the first convolution is the model's own; batch normalisation keeps 256·64·64·64 floats and its statistics.
    assert.deepEqual(await hintsBehind("self.stem = "), ["1,728 parameters, saves nothing new"]);
    assert.deepEqual(await hintsBehind("self.norm = "), ["128 parameters, saves 256.0 MiB"]);
    assert.deepEqual(await hintsBehind("self.head = "), ["102,600 parameters, saves 512.0 KiB"]);
    // One line makes the convolutions of eight blocks: 9 weights for each pair of channels; ReLU before them kept their inputs.
    const [convolutions] = await hintsBehind("self.conv1 = ");
    assert.equal(convolutions, "4,718,592 parameters, saves nothing new");
  });

  it("promise nothing of what is not known", async () => {
    await start({ inlayHints: { layers: true } });
    await client.replace(uri, "x = self.blocks(x)", "x = unknown_to_us(self.blocks(x))");
    const [hint] = await hintsBehind("self.norm = ");
    assert.equal(hint, "128 parameters, saves ≥ 256.0 MiB");
    for (const label of await hintsBehind("self.head = ")) assert.doesNotMatch(label, /nothing/);
  });

  it("stand above models and training loops, and open the timeline where the client has one", async () => {
    await start({ codeLens: true }, { initializationOptions: { commands: ["vramlint.showTimeline"] } });
    const found = await lenses();
    const at = (piece: string) =>
      found.find(({ range }) => range.start.line === client.positionOf(uri, piece).line);
    assert.match(at("class ResNet")?.command?.title ?? "", /^≈ \d+\.\d MiB of model states$/);
    const loop = at(
      "for images, labels in loader:\n        images, labels = images.to(device), labels.to(device)\n        optimizer",
    );
    assert.match(
      loop?.command?.title ?? "",
      /^a training step: ≈ 4\.46 of 6\.50 GiB \(69 %\), peak at line \d+$/,
    );
    assert.deepEqual(loop?.command?.arguments, [uri]);
    assert.equal(found.length, 2, "none above a block that takes arguments, none above the evaluation");
  });

  it("are plain text for clients without a timeline, and Chinese where the findings are", async () => {
    await start({ codeLens: true }, { locale: "zh-cn" });
    for (const { command } of await lenses()) {
      assert.equal(command?.command, "");
      assert.match(command.title, /\p{Script=Han}/u);
    }
  });
});
