import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { totalOf } from "../../server/src/memory/moment-bytes";
import { timelineMethod } from "../../server/src/lsp/timeline-request";
import type { TimelineAnswer, TimelineNothing, TimelineShown } from "../../server/src/lsp/timeline-request";
import { modelText } from "../support/goldens";
import { script, uriOf } from "./support/scripts";
import { TestClient } from "./support/test-client";

const example = readFileSync(path.join(__dirname, "../../test-fixtures/example/train.py"), "utf8");

/** A model that only an environment with its library could tell. */
const pretrained = [
  "from transformers import AutoModelForSequenceClassification",
  "import torch",
  'model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased").cuda()',
  "optimizer = torch.optim.AdamW(model.parameters())",
  "for batch in loader:",
  "    loss = model(**batch).loss",
  "    loss.backward()",
  "    optimizer.step()",
  "    optimizer.zero_grad()",
  "",
].join("\n");

/** No header: the loop that loads the data makes the step. */
const ownLoop = [
  "import torch",
  "from torch import nn",
  "from torch.utils.data import DataLoader",
  "from torchvision import datasets, transforms",
  'data = datasets.CIFAR10("data", transform=transforms.ToTensor())',
  "loader = DataLoader(data, batch_size=64)",
  "class Net(nn.Module):",
  "    def __init__(self):",
  "        super().__init__()",
  "        self.layers = nn.Sequential(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Flatten(), nn.Linear(28800, 10))",
  "    def forward(self, x):",
  "        return self.layers(x)",
  "def train(model, criterion, loader, optimizer):",
  "    for images, labels in loader:",
  "        loss = criterion(model(images.cuda()), labels.cuda())",
  "        optimizer.zero_grad()",
  "        loss.backward()",
  "        optimizer.step()",
  "net = Net().cuda()",
  "train(net, nn.CrossEntropyLoss(), loader, torch.optim.SGD(net.parameters(), lr=0.1))",
  "",
].join("\n");

describe("the timeline request", () => {
  const uri = uriOf("train.py");
  let client: TestClient;
  const start = async (text: string, setup: Parameters<typeof TestClient.start>[0] = {}): Promise<void> => {
    client = await TestClient.start(setup);
    await client.open(uri, text);
  };
  afterEach(() => client.kill());

  const ask = (changes?: unknown, document = uri, known?: string): Promise<TimelineAnswer | null> =>
    client.connection.sendRequest(timelineMethod, {
      textDocument: { uri: document },
      ...(known === undefined ? {} : { known }),
      ...(changes === undefined ? {} : { changes }),
    });
  const shown = async (changes?: unknown): Promise<TimelineShown> => {
    const answer = await ask(changes);
    assert.ok(answer?.kind === "shown" && answer.now !== null);
    return { ...answer, now: answer.now };
  };
  const nothing = async (): Promise<TimelineNothing> => {
    const answer = await ask();
    assert.equal(answer?.kind, "nothing");
    return answer;
  };

  it("gives the step of the header's model, its peak, lines and limits", async () => {
    await start(example);
    const { model, now, changed, places, budget, device, controls, assumptions } = await shown();
    assert.equal(model, "ResNet");
    assert.equal(changed, null);
    assert.deepEqual([budget, device?.bytes], [6.5 * 2 ** 30, 8 * 2 ** 30]);
    const peak = now.moments[now.peak];
    assert.ok(peak);
    assert.equal(totalOf(peak.bytes), now.allocated);
    const place = places[peak.place ?? -1];
    assert.equal(place?.text, "out = self.norm2(self.conv2(out))");
    assert.deepEqual(
      { line: place.line, character: place.character },
      client.positionOf(uri, "self.norm2(self.conv2(out))"),
    );
    assert.ok(peak.modulePath.startsWith("blocks."));
    assert.deepEqual([...new Set(now.moments.map(({ phase }) => phase))], ["forward", "backward", "step"]);
    assert.deepEqual(controls.batch, { value: 256, unavailable: null });
    assert.deepEqual(controls.recompute, { count: 8, value: 0, className: "Block", unavailable: null });
    assert.equal(controls.optimizer.value, "adamw");
    assert.ok(
      assumptions.some(
        ({ key, origin, place: at }) => key === "batch" && /header/.test(origin) && at?.line === 1,
      ),
    );
    assert.ok(now.complete && now.reasons.length === 0 && now.work && now.work.forward > 0);
    assert.ok((now.usage.most ?? 0) > now.usage.least);
  });

  it("simulates what the controls change beside what is", async () => {
    await start(example);
    const { now } = await shown();
    const smaller = await shown({ batch: 64 });
    assert.deepEqual(smaller.now, now);
    assert.ok(smaller.changed && smaller.changed.allocated < now.allocated / 2);
    assert.equal((smaller.changed.work?.forward ?? 0) * 4, now.work?.forward);
    const again = await shown({ checkpointed: 8 });
    assert.ok(again.changed && again.changed.saved < now.saved && (again.changed.work?.again ?? 0) > 0);
    const half = await shown({ precision: "amp-bf16", optimizer: "sgd" });
    assert.ok(half.changed);
    assert.equal(half.changed.optimizer, 0);
    assert.ok(
      half.assumptions.some(
        ({ key, value, origin }) =>
          key === "precision" && value === "amp-bf16" && /Changed here/.test(origin),
      ),
    );
  });

  it("does not send again what the client knows of the step as it is", async () => {
    await start(example);
    const { version, places, now } = await shown();
    const less = await ask({ checkpointed: 2 }, uri, version);
    assert.ok(less?.kind === "shown" && less.changed !== null);
    assert.deepEqual([less.version, less.now], [version, null]);
    assert.deepEqual(less.places.slice(0, places.length), places, "its places keep their numbers");
    assert.deepEqual((await shown({ checkpointed: 2 })).changed, less.changed);
    await client.replace(uri, "batch=256", "batch=128");
    const edited = await ask({}, uri, version);
    assert.ok(edited?.kind === "shown" && edited.now !== null && edited.version !== version);
    assert.ok(edited.now.allocated < now.allocated);
  });

  it("ignores changes that make no sense", async () => {
    await start(example);
    for (const changes of [
      {},
      null,
      7,
      { batch: 0 },
      { batch: "8" },
      { batch: 1.5 },
      { precision: "fp8" },
      { optimizer: "toString" },
    ]) {
      assert.equal((await shown(changes)).changed, null, JSON.stringify(changes));
    }
  });

  it("follows the text", async () => {
    await start(example);
    const before = (await shown()).now.allocated;
    await client.replace(uri, "batch=256", "batch=128");
    assert.ok((await shown()).now.allocated < before);
  });

  it("says at least, and why, when something is not understood", async () => {
    await start(example.replace("x = self.blocks(x)", "x = unknown(self.blocks(x))"));
    const { now } = await shown();
    assert.equal(now.complete, false);
    assert.equal(now.usage.most, null);
    assert.equal(now.work, null, "what backward would compute again is not known");
    assert.ok(now.saved > 2 ** 30, "what the blocks saved before is known");
    assert.match(now.reasons.map(({ text }) => text).join(), /unknown/);
    assert.equal(now.reasons[0]?.place?.text, "x = unknown(self.blocks(x))");
  });

  it("does not count an optimizer that is not known", async () => {
    await start(example.replace("optimizer=adamw, ", "").replace("torch.optim.AdamW", "own.Optimizer"));
    const { now, controls } = await shown();
    assert.deepEqual([now.optimizer, now.complete, controls.optimizer.value], [null, false, ""]);
    assert.ok((await shown({ optimizer: "adamw" })).changed?.complete);
  });

  it("says why there is nothing to show", async () => {
    await start("print('hello')\n");
    assert.match((await nothing()).reasons[0]?.text ?? "", /neither imports PyTorch/);
    await client.open(uriOf("plain.py"), "import torch\nprint(torch.ones(3))\n");
    const plain = await ask(undefined, uriOf("plain.py"));
    assert.ok(plain?.kind === "nothing" && /No model was found/.test(plain.reasons[0]?.text ?? ""));
    await client.open(uriOf("model.py"), script);
    const model = await ask(undefined, uriOf("model.py"));
    assert.ok(model?.kind === "nothing" && model.needsHeader);
    assert.match(model.reasons[0]?.text ?? "", /input/);
    await client.open(uriOf("missing.py"), pretrained);
    const missing = await ask(undefined, uriOf("missing.py"));
    assert.ok(missing?.kind === "nothing" && !missing.needsHeader);
    assert.equal(missing.reasons.length, 1, "the true reason alone");
    assert.match(missing.reasons[0]?.text ?? "", /`transformers` is not found/);
    assert.equal(await ask(undefined, uriOf("closed.py")), null);
  });

  it("says why a control cannot be used", async () => {
    await start(modelText("lenet5.py"));
    assert.match((await shown()).controls.recompute.unavailable ?? "", /no stack of repeated blocks/);
    await client.open(uriOf("own.py"), modelText("checkpointed.py"));
    const own = await ask(undefined, uriOf("own.py"));
    assert.ok(own?.kind === "shown");
    assert.match(own.controls.recompute.unavailable ?? "", /checkpoints parts of the model itself/);
  });

  it("lets the micro-batch be changed where the script's own loop gives it", async () => {
    await start(ownLoop);
    const { controls } = await shown();
    assert.deepEqual(controls.batch, { value: 64, unavailable: null });
    const { now, changed } = await shown({ batch: 32 });
    assert.ok(changed !== null && changed.allocated < now.allocated);
  });

  it("thins out a long step and keeps its peak", async () => {
    await start(
      "# vram: batch=4, input=float32[B,32], optimizer=adam\nimport torch.nn as nn\n" +
        "class Deep(nn.Module):\n    def __init__(self):\n        super().__init__()\n" +
        "        self.layers = nn.Sequential(*[nn.Linear(32, 32) for _ in range(1000)])\n" +
        "    def forward(self, x):\n        return self.layers(x)\n",
    );
    const { now } = await shown();
    assert.ok(now.count > 2000 && now.moments.length <= 900);
    const totals = now.moments.map(({ bytes }) => totalOf(bytes));
    assert.equal(totals[now.peak], now.allocated);
    assert.equal(Math.max(...totals), now.allocated);
  });

  it("answers in Chinese", async () => {
    await start(script, { locale: "zh-cn" });
    assert.match((await nothing()).reasons[0]?.text ?? "", /输入/);
  });
});
