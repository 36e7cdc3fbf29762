import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { uriOf } from "./support/scripts";
import { TestClient } from "./support/test-client";

const example = readFileSync(path.join(__dirname, "../../test-fixtures/example/train.py"), "utf8");

describe("the training plan over the protocol", () => {
  const uri = uriOf("train.py");
  let client: TestClient;
  afterEach(() => client.kill());

  const planOf = (document: string) =>
    client.connection.sendRequest<{ markdown: string } | null>("vramlint/trainingPlan", {
      textDocument: { uri: document },
    });

  it("follows the text as it is, with lines as the user counts them", async () => {
    client = await TestClient.start();
    await client.open(uri, example);
    const before = (await planOf(uri))?.markdown ?? "";
    assert.match(before, /^From `train\.py`\./m);
    assert.match(before, /^\| Task \| Trains a small ResNet on .* \| docstring, line 1 \|$/m);
    assert.match(before, /^\| Budget \| 6\.50 GiB \| header, line 2 \|$/m);
    assert.match(
      before,
      /^\| Training data \| `datasets\.ImageFolder\("tiny-imagenet\/train".*line \d+ \|$/m,
    );
    await client.replace(uri, "budget=6.5GiB", "budget=2GiB");
    const after = (await planOf(uri))?.markdown ?? "";
    assert.match(after, /over the limit of 2\.00 GiB/);
  });

  it("is Chinese where the findings are", async () => {
    client = await TestClient.start({ locale: "zh-cn" });
    await client.open(uri, example);
    assert.match((await planOf(uri))?.markdown ?? "", /^\| 显存预算 \| 6\.50 GiB \| 注释，第 2 行 \|$/m);
  });

  it("names cells of a notebook", async () => {
    client = await TestClient.start();
    const cells = ["import torch\n", "torch.manual_seed(7)\n"];
    const cellUri = (index: number) => `vscode-notebook-cell:/project/a.ipynb#c${index}`;
    await client.connection.sendNotification("notebookDocument/didOpen", {
      notebookDocument: {
        uri: uriOf("a.ipynb"),
        notebookType: "jupyter-notebook",
        version: 1,
        cells: cells.map((_text, index) => ({ kind: 2, document: cellUri(index) })),
      },
      cellTextDocuments: cells.map((text, index) => ({
        uri: cellUri(index),
        languageId: "python",
        version: 1,
        text,
      })),
    });
    const plan = (await planOf(cellUri(0)))?.markdown ?? "";
    assert.match(plan, /^From `a\.ipynb`\./m);
    assert.match(plan, /^\| Seed \| 7 \| script, code cell 2, line 1 \|$/m);
  });

  it("is none for a file that has nothing to do with training, and for one that is not open", async () => {
    client = await TestClient.start();
    await client.open(uri, "print(1)\n");
    assert.equal(await planOf(uri), null);
    assert.equal(await planOf(uriOf("other.py")), null);
  });
});
