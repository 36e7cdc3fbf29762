import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import type { Hover } from "vscode-languageserver/node";
import { script, uriOf } from "./support/scripts";
import { plain, TestClient } from "./support/test-client";

const example = readFileSync(path.join(__dirname, "../../test-fixtures/example/train.py"), "utf8");

/** A model that only an environment with its library could tell. */
const pretrained = [
  "from transformers import AutoModelForSequenceClassification",
  "import torch",
  'model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased")',
  "optimizer = torch.optim.AdamW(model.parameters())",
  "",
].join("\n");

describe("the training step in the editor", () => {
  const uri = uriOf("train.py");
  let client: TestClient;
  const start = async (text = example, locale?: string): Promise<void> => {
    client = await TestClient.start(locale === undefined ? {} : { locale });
    await client.open(uri, text);
  };
  afterEach(() => client.kill());

  const hoverAt = async (piece: string, within = 0): Promise<Hover> => {
    const hover = await client.hover(uri, client.positionOf(uri, piece, within));
    assert.ok(hover, "there is a hover");
    return hover;
  };
  const textAt = async (piece: string, within = 0): Promise<string> => {
    const { contents } = await hoverAt(piece, within);
    assert.ok(typeof contents === "object" && "value" in contents);
    return contents.value;
  };

  it("shows a layer's parameters, output and what it saves over the line that makes it", async () => {
    await start();
    const hover = await hoverAt("self.stem = ", 3);
    assert.deepEqual(hover.range?.start, client.positionOf(uri, "self.stem = "));
    const text = await textAt("self.stem = ", 3);
    assert.match(text, /^`stem` — Conv2d$/m);
    assert.match(text, /^\| Parameters \| 1,728 \|$/m);
    assert.match(text, /^\| Output \| `float32\[256, 64, 64, 64\]` \|$/m);
    // A convolution keeps its input, and that is the model's: it is there anyway.
    assert.match(text, /^\| Saved for backward \| nothing new \|$/m);
    // Batch normalisation keeps its input and, in 64 channels, mean and deviation: 256·64·64·64·4 + 2·64·4 bytes.
    assert.match(await textAt("self.norm = ", 3), /^\| Saved for backward \| 256\.0 MiB \|$/m);
  });

  it("does not say what one more sample takes where the input's shape is of numbers alone", async () => {
    await start(
      example.replace(
        "float32[B,3,64,64], target=int64[B]<200",
        "float32[256,3,64,64], target=int64[256]<200",
      ),
    );
    assert.match(await textAt("class ResNet", 8), /^\| Activations saved for backward \| [\d.]+ GiB \|$/m);
    client.kill();
    await start();
    assert.match(
      await textAt("class ResNet", 8),
      /^\| Activations saved for backward \| [\d.]+ GiB, [\d.]+ MiB a sample \|$/m,
    );
  });

  it("shows all layers that one line makes, with their sum", async () => {
    await start();
    // The inputs of these convolutions are kept by the ReLU before them already.
    const convolutions = await textAt("self.conv1 = ", 3);
    assert.match(
      convolutions,
      /^\| `blocks\.7\.conv1` \| 2,359,296 \| `float32\[256, 512, 8, 8\]` \| nothing new \|$/m,
    );
    assert.match(convolutions, /^\| Together \| 4,718,592 \| {2}\| nothing new \|$/m);
    const norms = await textAt("self.norm1 = ", 3);
    assert.match(norms, /^\| `blocks\.0\.norm1` \| 128 \| `float32\[256, 64, 64, 64\]` \| 256\.0 MiB \|$/m);
    // 256, 128, 64 and 32 MiB, each twice, and 15 KiB of means and deviations.
    assert.match(norms, /^\| Together \| 3,840 \| {2}\| 960\.0 MiB \|$/m);
  });

  it("shows what a call in forward gives and saves, over all the times it runs", async () => {
    await start();
    const text = await textAt("F.relu(out + self", 2);
    assert.match(text, /^`F\.relu\(out \+ self\.shortcut\(x\)\)`$/m);
    assert.match(text, /`float32\[256, 64, 64, 64\]`/);
    assert.match(text, /^\| Runs in a step \| 8 \|$/m);
    const inner = await hoverAt("self.stem(x)", 6);
    assert.deepEqual(inner.range?.start, client.positionOf(uri, "self.stem(x)"));
  });

  it("says unknown of outputs while the input is not known", async () => {
    await start(example.replace("input=float32[B,3,64,64], ", ""));
    const text = await textAt("self.stem = ", 3);
    assert.match(text, /^\| Parameters \| 1,728 \|$/m);
    assert.match(text, /^\| Output \| unknown \|$/m);
    assert.equal(await client.hover(uri, client.positionOf(uri, "self.stem(x)", 6)), null);
  });

  it("says at least where the step is not understood to its end", async () => {
    await start(example.replace("x = self.blocks(x)", "x = unknown_helper(self.blocks(x))"));
    assert.match(await textAt("self.norm = ", 3), /at least 256\.0 MiB/);
  });

  it("holds peak, device, budget and the largest micro-batch in the model's hover", async () => {
    await start();
    const text = await textAt("class ResNet", 7);
    assert.match(text, /\| Peak of a training step \| 4\.46 GiB, in backward at line 22 \|/);
    assert.match(text, /\| On the device, about \| 4\.83 GiB – 5\.18 GiB \|/);
    assert.match(text, /Within the budget of 6\.50 GiB: 69 % used\./);
    assert.match(text, /Largest micro-batch under the budget: 376/);
    assert.match(text, /^From the header: .*`batch=256`/m);
    assert.match(text, /^From the script: `model=ResNet` `iteration=training loop`/m);
    assert.match(text, /^Assumed: `step=foreach`/m);
    assert.match(text, /6–13 % allocator slack/);
    // What decides comes first: a hover shows the beginning only.
    assert.ok(text.indexOf("Within the budget") < text.indexOf("| Part |"));
    assert.ok(text.indexOf("| Peak") < text.indexOf("| Parameters"));
  });

  it("links the timeline from the trained model's hover, only where the client has it", async () => {
    await start();
    assert.doesNotMatch(await textAt("class ResNet", 7), /command:|memory timeline/);
    client.kill();
    client = await TestClient.start({ initializationOptions: { commands: ["vramlint.showTimeline"] } });
    const odd = "file:///project/step%20(1).py";
    await client.open(odd, example);
    const linked = async (piece: string, within: number): Promise<string> => {
      const hover = await client.hover(odd, client.positionOf(odd, piece, within));
      assert.ok(typeof hover?.contents === "object" && "value" in hover.contents);
      return hover.contents.value;
    };
    const link = /all trainable · \[Show the memory timeline\]\(command:vramlint\.showTimeline\?([^()]+)\)\n/;
    for (const text of [await linked("class ResNet", 7), await linked("# vram", 2)]) {
      const given = link.exec(text)?.[1];
      assert.deepEqual(JSON.parse(decodeURIComponent(given ?? "null")), [odd]);
    }
    assert.doesNotMatch(await linked("class Block", 7), /command:/, "the step is another model's");
    await client.open(uri, script);
    assert.doesNotMatch(await textAt("class Net", 7), /command:/, "there is no step to show");
  });

  it("says what would make the step fit when it is over the budget", async () => {
    await start(example.replace("budget=6.5GiB", "budget=3GiB"));
    const text = await textAt("class ResNet", 7);
    assert.match(text, /Over the budget of 3\.00 GiB by 1\.46 GiB\./);
    assert.match(text, /^- micro-batch 128 with 2 accumulation steps: 2\.\d\d GiB$/m);
    assert.match(text, /^- .*: .*, not enough$/m);
    assert.match(text, /^What would make it fit:$/m);
    assert.doesNotMatch(text, /Within/);
    await client.replace(uri, "budget=3GiB", "budget=30MiB");
    const hopeless = await textAt("class ResNet", 7);
    assert.match(hopeless, /^No single change makes it fit:$/m);
    assert.doesNotMatch(hopeless, /Largest micro-batch/);
  });

  it("marks the line of the peak, if the settings want it", async () => {
    await start();
    const hints = async () =>
      (await client.inlayHints(uri)).filter(
        ({ label }) => plain(label) === "≈ 4.46 GiB: the peak of the step",
      );
    const [hint, second] = await hints();
    assert.equal(second, undefined);
    const line = "        out = self.norm2(self.conv2(out))";
    assert.deepEqual(hint?.position, client.positionOf(uri, line, line.length));
    await client.changeSettings({ inlayHints: { peak: false } });
    assert.deepEqual(await hints(), []);
  });

  it("has hints that VS Code shows whole, whatever they have to say", async () => {
    for (const locale of ["en", "zh-cn"]) {
      await start(`# vram: device=8GiB\n${pretrained}`, locale);
      const labels = (await client.inlayHints(uri)).map(({ label }) => plain(label));
      assert.deepEqual(labels, [
        locale === "en" ? "not estimated because of line 4" : "未能估算，原因在第 4 行",
      ]);
      client.kill();
    }
    await start(example.replace("device=8GiB, budget=6.5GiB, batch=256", "device=80GiB, batch=1"));
    const [header] = (await client.inlayHints(uri)).map(({ label }) => plain(label));
    assert.match(header ?? "", /^≈ \d+\.\d [KM]iB of 80\.00 GiB \(< 1 %\), peak/);
  });

  it("puts bytes into the findings where the step is known", async () => {
    await start();
    const messageOf = async (rule: string): Promise<string> => {
      const found = (await client.pull(uri)).find(({ code }) => code === rule);
      assert.ok(found, rule);
      return plain(found.message);
    };
    assert.match(await messageOf("eval-without-no-grad"), /\(≈ 4\.25 GiB at batch 256\)/);
    assert.match(
      await messageOf("loss-graph-retained"),
      /\(≥ 4\.25 GiB each at batch 256: 8\.00 GiB of GPU memory are full after at most 1 iteration\)/,
    );
    await client.replace(uri, "input=float32[B,3,64,64], ", "");
    assert.doesNotMatch(await messageOf("eval-without-no-grad"), /GiB/);
    assert.doesNotMatch(await messageOf("loss-graph-retained"), /GiB/);
  });

  it("is in Chinese for a Chinese client", async () => {
    await start(example.replace("budget=6.5GiB", "budget=3GiB"), "zh-cn");
    const text = await textAt("class ResNet", 7);
    assert.match(text, /超出显存预算 3\.00 GiB/);
    assert.match(text, /来自注释：/);
    assert.match(await textAt("self.norm = ", 3), /\| 为反向保存 \| 256\.0 MiB \|/);
    assert.ok((await client.inlayHints(uri)).some(({ label }) => plain(label) === "≈ 4.46 GiB：本步的峰值"));
  });
});
