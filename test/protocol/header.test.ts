import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import type { CompletionItem, MarkupContent, Position } from "vscode-languageserver/node";
import { script, uriOf } from "./support/scripts";
import { plain, pullCapabilities, TestClient } from "./support/test-client";

const example = readFileSync(path.join(__dirname, "../../test-fixtures/example/train.py"), "utf8");

interface HeaderAnswer {
  readonly uri: string;
  readonly position: Position;
  readonly snippet: string;
}

describe("inside the # vram: comments", () => {
  const uri = uriOf("train.py");
  let client: TestClient;
  const start = async (text: string, setup: Parameters<typeof TestClient.start>[0] = {}): Promise<void> => {
    client = await TestClient.start(setup);
    await client.open(uri, text);
  };
  afterEach(() => client.kill());

  /** At the `|` of the first line, which stands before the script. */
  const completionsAt = async (line: string, setup?: Parameters<typeof TestClient.start>[0]) => {
    const character = line.indexOf("|");
    await start(`${line.replace("|", "")}\n${script}`, setup);
    return client.connection.sendRequest<CompletionItem[]>("textDocument/completion", {
      textDocument: { uri },
      position: { line: 0, character },
    });
  };
  const labels = (items: readonly CompletionItem[]): string[] => items.map(({ label }) => label);
  /** The line with an offered item taken. */
  const taken = (line: string, item: CompletionItem | undefined): string => {
    const edit = item?.textEdit;
    assert.ok(edit && "range" in edit);
    const text = line.replace("|", "");
    return text.slice(0, edit.range.start.character) + edit.newText + text.slice(edit.range.end.character);
  };

  it("offers the keys that are not given yet", async () => {
    const line = "# vram: budget=2GiB, input=float32[B,3], ba|";
    const items = await completionsAt(line);
    assert.ok(!labels(items).includes("budget"));
    assert.ok(labels(items).includes("input"), "which may be repeated");
    const batch = items.find(({ label }) => label === "batch");
    assert.equal(taken(line, batch), "# vram: budget=2GiB, input=float32[B,3], batch=");
    assert.match(plain(batch?.documentation), /Micro-batch/);
    assert.equal(batch?.detail, "batch=32");
    assert.equal(batch.command, undefined);
  });

  it("offers keys at the beginning and behind a comma, and asks our own client to go on with the values", async () => {
    const commands = ["editor.action.triggerSuggest"];
    const items = await completionsAt("# vram: |", { initializationOptions: { commands } });
    assert.equal(items.length, 18);
    assert.equal(items[0]?.command?.command, commands[0]);
  });

  it("offers cards with what they have", async () => {
    const line = "# vram: device=rtx|";
    const card = (await completionsAt(line)).find(({ label }) => label === "rtx-4090");
    assert.equal(card?.detail, "23.64 GiB usable");
    assert.equal(taken(line, card), "# vram: device=rtx-4090");
  });

  it("offers dtypes, optimizers, choices, and the names of the file", async () => {
    const cases = [
      ["# vram: input=|", "bfloat16", "int64"],
      ["# vram: optimizer=|", "adamw8bit", "sgd-momentum"],
      ["# vram: budget=2GiB, precision=|", "amp-bf16", "fp32"],
      ["# vram: shard=|", "zero3", "fsdp"],
      ["# vram: model=|", "Net"],
      ["# vram: checkpoint=|", "all", "Net"],
      ["# vram: loss=|", "cross_entropy", "evaluate"],
    ] as const;
    for (const [line, ...expected] of cases) {
      const offered = labels(await completionsAt(line));
      for (const label of expected) assert.ok(offered.includes(label), `${line} ${label}`);
      client.kill();
    }
  });

  it("offers the options that the script declares for its command line", async () => {
    const declared = `import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument("-w", "--width")\n`;
    const text = `# vram: args=--amp --wi\n${declared}${script}`;
    await start(text);
    const params = { textDocument: { uri }, position: { line: 0, character: 23 } };
    const items = await client.connection.sendRequest<CompletionItem[]>("textDocument/completion", params);
    assert.deepEqual(labels(items), ["--width"]);
    assert.equal(taken("# vram: args=--amp --wi|", items[0]), "# vram: args=--amp --width");
  });

  it("puts the dimensions behind a dtype where the client has placeholders", async () => {
    const completion = { completionItem: { snippetSupport: true } };
    const capabilities = {
      ...pullCapabilities,
      textDocument: { ...pullCapabilities.textDocument, completion },
    };
    const line = "# vram: input=mask=bo|";
    const item = (await completionsAt(line, { capabilities })).find(({ label }) => label === "bool");
    assert.equal(taken(line, item), "# vram: input=mask=bool[B, $0]");
    client.kill();
    const bare = (await completionsAt(line)).find(({ label }) => label === "bool");
    assert.equal(taken(line, bare), "# vram: input=mask=bool");
  });

  it("offers the names of rules in suppressions", async () => {
    const line = "x = 1  # vram: ignore[loss-graph-retained, eval|]";
    const items = await completionsAt(line);
    const item = items.find(({ label }) => label === "eval-without-no-grad");
    assert.equal(taken(line, item), "x = 1  # vram: ignore[loss-graph-retained, eval-without-no-grad]");
  });

  it("offers nothing in code, strings, other comments and unknown keys", async () => {
    for (const line of [
      "x = |1",
      '"# vram: |"',
      "# note: |",
      "# vram: nonsense=|",
      "# vram: input=float32[B,|]",
    ]) {
      assert.deepEqual(labels(await completionsAt(line)), [], line);
      client.kill();
    }
  });

  it("explains each key when it is hovered over", async () => {
    await start(example);
    const hover = await client.hover(uri, client.positionOf(uri, "precision=fp32", 3));
    const contents = hover?.contents;
    assert.ok(typeof contents === "object" && "value" in contents);
    assert.match(contents.value, /^\*\*precision\*\* — Number format/);
    assert.match(contents.value, /Values: `fp32` `amp-fp16`/);
    assert.deepEqual(hover?.range?.start, client.positionOf(uri, "precision=fp32"));
  });

  it("offers the largest micro-batch that fits", async () => {
    await start(example);
    const at = client.positionOf(uri, "batch=256", 7);
    const title = "Set batch to 376, the largest that fits, here and in the script";
    const actions = await client.actions(uri, { start: at, end: at });
    const action = actions.find((candidate) => candidate.title === title);
    assert.match(client.textAfter(uri, action?.edit), /batch=376, input=.*train_set, batch_size=376,/s);
    await client.replace(uri, "batch=256, ", "batch=376, ");
    const done = await client.actions(uri, { start: at, end: at });
    assert.ok(!done.some((candidate) => candidate.title.startsWith("Set batch")), "it is set already");
    const elsewhere = client.positionOf(uri, "class ResNet");
    assert.deepEqual(await client.actions(uri, { start: elsewhere, end: elsewhere }), []);
  });

  const stack = `import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

BATCH = 32

class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, batch_first=True), 4)
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        return self.head(self.blocks(x).mean(1))

loader = DataLoader(TensorDataset(torch.randn(512, 20, 64), torch.zeros(512, dtype=torch.long)), BATCH)
model = Stack().cuda()
optimizer = torch.optim.AdamW(model.parameters())
for x, y in loader:
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
    loss.backward()
    optimizer.step()
`;

  it("changes the script's batch only where header and script agree on one number", async () => {
    const set = async (text: string, header: string) => {
      await start(`# vram: budget=1GiB, ${header}\n${text}`);
      const at = client.positionOf(uri, "budget");
      const actions = await client.actions(uri, { start: at, end: at });
      const action = actions.find(({ title }) => title.startsWith("Set batch"));
      client.kill();
      return action === undefined ? "" : client.textAfter(uri, action.edit);
    };
    assert.match(await set(stack, "batch=32"), /, batch=(\d+)\n.*^BATCH = \1$/ms);
    assert.match(await set(stack, "batch=16"), /^BATCH = 32$/m, "they do not agree");
    const computed = stack.replace("BATCH = 32", "BATCH = 8 * 4");
    assert.match(await set(computed, "batch=32"), /, batch=(?!32)\d+\n.*^BATCH = 8 \* 4$/ms);
  });

  it("offers the repeated block of a library for checkpoints, the whole model last", async () => {
    const line = "# vram: budget=1GiB, checkpoint=";
    await start(`${line}\n${stack}`);
    const items = await client.connection.sendRequest<CompletionItem[]>("textDocument/completion", {
      textDocument: { uri },
      position: { line: 0, character: line.length },
    });
    assert.deepEqual(labels(items), ["none", "all", "TransformerEncoderLayer", "Stack"]);
  });

  it("offers what would make a step fit, as changes of the header", async () => {
    await start(example.replace("batch=256", "batch=512"));
    const at = client.positionOf(uri, "batch=512", 7);
    const actions = await client.actions(uri, { start: at, end: at });
    const after = (start: string): string =>
      client.textAfter(uri, actions.find(({ title }) => title.startsWith(start))?.edit);
    assert.match(
      after("Write into the header: micro-batch 256 with 2 accumulation steps ("),
      /batch=256, .*accumulate=2/s,
    );
    assert.match(after("Write into the header: mixed precision (amp-bf16) ("), /precision=amp-bf16/);
    assert.ok(
      actions.every(({ title }) => !title.includes("optimizer")),
      "what does not make it fit is not offered",
    );
  });

  it("offers it as the fix of what is exceeded, before what hides that", async () => {
    await start(example.replace("batch=256", "batch=512"));
    const exceeded = (await client.pull(uri)).find(({ code }) => code === "budget-exceeded");
    assert.ok(exceeded);
    const actions = await client.actionsFor(uri, exceeded);
    const kinds = actions.map(({ title }) => title.replace(/ .*/, ""));
    assert.deepEqual(
      kinds,
      [...kinds].sort((a, b) => Number(a === "Ignore") - Number(b === "Ignore")),
    );
    assert.match(actions[0]?.title ?? "", /^Set batch to 376/);
    // VS Code shows actions that belong to no diagnostic after all others.
    assert.ok(actions.every(({ diagnostics }) => diagnostics?.[0]?.code === "budget-exceeded"));
  });

  it("offers them in Chinese too", async () => {
    await start(example.replace("batch=256", "batch=512"), { locale: "zh-cn" });
    const at = client.positionOf(uri, "batch=512", 7);
    const actions = await client.actions(uri, { start: at, end: at });
    assert.ok(actions.some(({ title }) => title.startsWith("写入注释：混合精度（amp-bf16）（")));
  });

  const headerFor = (): Promise<HeaderAnswer | null> =>
    client.connection.sendRequest("vramlint/budgetHeader", { textDocument: { uri } });

  it("makes a header from the script, with what is unknown left to be filled in", async () => {
    await start(example.replace(/^# vram:.*\n/gm, ""));
    const answer = await headerFor();
    assert.deepEqual(answer, {
      uri,
      position: { line: 1, character: 0 },
      snippet: [
        "# vram: device=${1:8GiB}, budget=${2:6.5GiB}, batch=256",
        "# vram: input=${3:float32[B,3,224,224]}, target=${4:int64[B]<10}, loss=cross_entropy",
        "# vram: optimizer=adamw, precision=${5:fp32}",
        "",
      ].join("\n"),
    });
  });

  it("leaves what a followed training loop computes to the script", async () => {
    await start(stack);
    const { snippet } = (await headerFor()) ?? assert.fail("there is a header");
    assert.deepEqual(snippet.split("\n"), [
      "# vram: device=${1:8GiB}, budget=${2:6.5GiB}, batch=32",
      "# vram: optimizer=adamw, precision=${3:fp32}",
      "",
    ]);
  });

  it("changes nothing about a model whose head the script replaces", async () => {
    const replaced = script.replace(
      "    optimizer = torch.optim",
      "    model.head = nn.Linear(1000, 3).cuda()\n    optimizer = torch.optim",
    );
    await start(replaced);
    const figures = async () => {
      const at = client.positionOf(uri, "model = Net().cuda()", 10);
      return /[\d,]+ parameters/.exec(plain((await client.hover(uri, at))?.contents as MarkupContent))?.[0];
    };
    // 1000 × 1000 + 1000, and 1000 × 3 + 3.
    assert.equal(await figures(), "1,004,003 parameters");
    const { snippet } = (await headerFor()) ?? assert.fail("there is a header");
    const header = snippet.replaceAll(/\$\{\d+:([^}]*)\}/g, "$1").replace("[B,3,32,32]", "[B,1000]");
    await client.change(uri, [{ text: header + replaced }]);
    assert.equal(await figures(), "1,004,003 parameters");
  });

  describe("an input that only a header can say", () => {
    const open = `import torch
from torch import nn
from elsewhere import batches

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(20, 2)

    def forward(self, x):
        return self.fc(x)

model = Net().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in batches():
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
`;
    const title = "Write an input into the header, with sizes to adjust: input=float32[B,20]";
    const textWith = async (place: string): Promise<string | undefined> => {
      const at = client.positionOf(uri, place, 2);
      const actions = await client.actions(uri, { start: at, end: at });
      const action = actions.find((one) => one.title === title);
      return action && client.textAfter(uri, action.edit);
    };

    it("is written where the model stands, as an example, and gives the step", async () => {
      await start(open);
      for (const place of ["class Net", "model = Net()"]) {
        assert.equal(await textWith(place), `# vram: input=float32[B,20]\n${open}`);
      }
      assert.equal(await textWith("optimizer.step()"), undefined, "not everywhere");
      await client.change(uri, [{ text: (await textWith("model = Net()")) ?? "" }]);
      const hover = await client.hover(uri, client.positionOf(uri, "model = Net()", 10));
      assert.match(plain(hover?.contents as MarkupContent), /Peak of a training step \| .*in backward/);
      assert.equal(await textWith("model = Net()"), undefined, "once it is said");
    });

    it("goes into the header that is there", async () => {
      await start(`# vram: device=8GiB\n${open}`);
      for (const place of ["# vram", "class Net"]) {
        assert.equal(await textWith(place), `# vram: device=8GiB\n# vram: input=float32[B,20]\n${open}`);
      }
    });

    it("is the placeholder of a new header", async () => {
      await start(open);
      assert.match((await headerFor())?.snippet ?? "", /input=\$\{\d+:float32\[B,20\]\}/);
    });
  });

  it("takes the input from the training loop", async () => {
    await start(readFileSync(path.join(__dirname, "../goldens/batches/flattened_images.py"), "utf8"));
    assert.deepEqual((await headerFor())?.snippet.split("\n").slice(0, 2), [
      "# vram: device=${1:8GiB}, budget=${2:6.5GiB}, batch=10",
      "# vram: input=float32[B,784], loss=cross_entropy",
    ]);
  });

  it("makes none where there is one, and keeps shebang and encoding first", async () => {
    await start(example);
    assert.equal(await headerFor(), null);
    client.kill();
    await start(`#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n${script}`);
    assert.deepEqual((await headerFor())?.position, { line: 2, character: 0 });
  });

  it("speaks Chinese with a Chinese client", async () => {
    const items = await completionsAt("# vram: |", { locale: "zh-cn" });
    assert.match(plain(items.find(({ label }) => label === "batch")?.documentation), /微批次/);
  });
});
