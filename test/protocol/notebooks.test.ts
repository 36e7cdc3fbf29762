import assert from "node:assert/strict";
import type { Diagnostic, InlayHint } from "vscode-languageserver/node";
import { script, uriOf } from "./support/scripts";
import { plain, TestClient } from "./support/test-client";

describe("notebooks", () => {
  const notebook = uriOf("train.ipynb");
  const cellUri = (index: number): string => `vscode-notebook-cell:/project/train.ipynb#cell${index}`;
  let client: TestClient;
  beforeEach(async () => {
    client = await TestClient.start();
  });
  afterEach(() => client.kill());

  async function open(cells: readonly string[]): Promise<void> {
    await client.connection.sendNotification("notebookDocument/didOpen", {
      notebookDocument: {
        uri: notebook,
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
  }

  const split = script.indexOf("def evaluate");
  const cells = [
    script.slice(0, split),
    "%matplotlib inline\n!nvidia-smi\nmodel?",
    script.slice(split),
    "train(None, None, None)",
  ];
  const codes = (items: readonly Diagnostic[] | undefined): unknown[] =>
    (items ?? []).map(({ code }) => code);

  it("are analysed as one script, each finding in its cell", async () => {
    await open(cells);
    const [first, second, third] = await Promise.all([0, 1, 2].map((index) => client.pushed(cellUri(index))));
    assert.deepEqual(codes(first?.diagnostics), ["empty-cache-in-loop"]);
    assert.deepEqual(codes(second?.diagnostics), []);
    assert.deepEqual(codes(third?.diagnostics), ["eval-without-no-grad"]);
    const line = cells[2]!.split("\n").findIndex((text) => text.includes("output = model(data)"));
    assert.equal(third?.diagnostics[0]?.range.start.line, line);
  });

  it("take cells in other languages for comments, whatever stands in them", async () => {
    const shell =
      "\n%%bash -s arg\nif true; then (echo 'unclosed\nfor batch in loader:\n    torch.cuda.empty_cache()\nfi";
    await open([
      cells[0]!,
      shell,
      "%%writefile a.py\nfor batch in loader:\n    torch.cuda.empty_cache()",
      ...cells.slice(2),
    ]);
    const found = await Promise.all([0, 1, 2, 3].map((index) => client.pushed(cellUri(index))));
    assert.deepEqual(
      found.map(({ diagnostics }) => codes(diagnostics)),
      [["empty-cache-in-loop"], [], [], ["eval-without-no-grad"]],
    );
  });

  it("get a budget header in the first cell, behind its cell magic", async () => {
    await open([`%%time\n${cells[0]}`, ...cells.slice(1)]);
    const ask = (cell: number) =>
      client.connection.sendRequest<{ uri: string; position: unknown; snippet: string } | null>(
        "vramlint/budgetHeader",
        { textDocument: { uri: cellUri(cell) } },
      );
    const answer = await ask(3);
    assert.equal(answer?.uri, cellUri(0));
    assert.deepEqual(answer.position, { line: 1, character: 0 });
    assert.match(answer.snippet, /^# vram: device=.*batch=64/);
  });

  it("get no diagnostics by pulling: no cell gets both", async () => {
    await open(cells);
    await client.pushed(cellUri(0));
    assert.deepEqual(await client.pull(cellUri(0)), []);
  });

  it("have fixes that change the cell alone", async () => {
    await open(cells);
    const { diagnostics } = await client.pushed(cellUri(2));
    const [action] = await client.actions(cellUri(2), diagnostics[0]!.range, { diagnostics });
    assert.deepEqual(Object.keys(action?.edit?.changes ?? {}), [cellUri(2)]);
  });

  it("are fixed as a whole by notebook.source.fixAll, magics kept", async () => {
    await open(cells);
    await client.pushed(cellUri(0));
    const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
    const [action] = await client.actions(cellUri(0), range, { only: ["notebook.source.fixAll"] });
    assert.deepEqual(Object.keys(action?.edit?.changes ?? {}).sort(), [cellUri(0), cellUri(2)]);
  });

  it("follow edits, new cells and cells that go", async () => {
    await open(cells);
    await client.pushed(cellUri(2));
    client.published.length = 0;
    const update = (cellChange: unknown, version: number): Promise<void> =>
      client.connection.sendNotification("notebookDocument/didChange", {
        notebookDocument: { uri: notebook, version },
        change: { cells: cellChange },
      });

    const document = { uri: cellUri(2), version: 2 };
    await update({ textContent: [{ document, changes: [{ text: "pass\n" }] }] }, 2);
    await client.pushed(cellUri(2), ({ diagnostics }) => diagnostics.length === 0);

    client.published.length = 0;
    const added = { uri: cellUri(9), languageId: "python", version: 1, text: script.slice(split) };
    const array = { start: 3, deleteCount: 0, cells: [{ kind: 2, document: cellUri(9) }] };
    await update({ structure: { array, didOpen: [added] } }, 3);
    const pushed = await client.pushed(cellUri(9));
    assert.deepEqual(codes(pushed.diagnostics), ["eval-without-no-grad"]);

    client.published.length = 0;
    const removal = { start: 0, deleteCount: 1, cells: [] };
    await update({ structure: { array: removal, didClose: [{ uri: cellUri(0) }] } }, 4);
    await client.pushed(cellUri(0), ({ diagnostics }) => diagnostics.length === 0);
  });

  it("of 500 cells are answered as fast as one types, without a word about cells of which there is nothing new", async () => {
    const count = 500;
    const last = count - 1;
    const filler = Array.from(
      { length: count - 2 },
      (_, index) => `value_${index} = ${index}\nprint(value_${index})`,
    );
    await open([cells[0]!, ...filler, cells[2]!]);
    await client.pushed(cellUri(last));
    assert.equal(new Set(client.published.map(({ uri }) => uri)).size, count);
    const before = client.published.length;
    const delays: number[] = [];
    for (let round = 0; round < 10; round++) {
      const told = client.published.length;
      const begun = performance.now();
      await client.connection.sendNotification("notebookDocument/didChange", {
        notebookDocument: { uri: notebook, version: 2 + round },
        change: {
          cells: {
            textContent: [
              {
                document: { uri: cellUri(last), version: 2 + round },
                changes: [{ text: round % 2 === 0 ? "pass" : cells[2]! }],
              },
            ],
          },
        },
      });
      const expected = round % 2 === 0 ? [] : ["eval-without-no-grad"];
      await client.until(() => {
        const news = client.published.slice(told).findLast(({ uri }) => uri === cellUri(last));
        return news && JSON.stringify(codes(news.diagnostics)) === JSON.stringify(expected)
          ? news
          : undefined;
      });
      delays.push(performance.now() - begun);
    }
    // Not the slowest: machines that run tests are busy, and stop for others now and then.
    const median = [...delays].sort((a, b) => a - b)[delays.length / 2]!;
    console.log(`      500 cells: an edit's findings after ${median.toFixed(0)} ms in the median`);
    assert.ok(median < 400, `${median} ms`);
    const touched = new Set(client.published.slice(before).map(({ uri }) => uri));
    assert.deepEqual([...touched].sort(), [cellUri(0), cellUri(last)].sort());
  });

  it("may have their cells moved", async () => {
    await open(cells);
    await client.pushed(cellUri(2));
    client.published.length = 0;
    const array = {
      start: 0,
      deleteCount: 2,
      cells: [1, 0].map((index) => ({ kind: 2, document: cellUri(index) })),
    };
    await client.connection.sendNotification("notebookDocument/didChange", {
      notebookDocument: { uri: notebook, version: 2 },
      change: { cells: { structure: { array } } },
    });
    assert.deepEqual(codes((await client.pushed(cellUri(0))).diagnostics), ["empty-cache-in-loop"]);
  });

  it("show what a model needs", async () => {
    await open(cells);
    await client.pushed(cellUri(0));
    const line = cells[0]!.split("\n").findIndex((text) => text.startsWith("class Net"));
    const hover = await client.hover(cellUri(0), { line, character: 7 });
    assert.match(JSON.stringify(hover?.contents), /1,011,010 parameters/);
  });

  it("give a peak no line, which would be one of all cells joined", async () => {
    const header = "# vram: budget=1MiB, input=float32[B,1000], loss=cross_entropy, optimizer=sgd";
    // without the cell that calls the training function with no model
    await open([header, ...cells.slice(0, -1)]);
    const { diagnostics } = await client.pushed(cellUri(0), (params) => params.diagnostics.length > 0);
    const over = plain(diagnostics.find(({ code }) => code === "budget-exceeded")?.message);
    assert.match(over, /peak is in the/);
    const hints = await client.connection.sendRequest<InlayHint[]>("textDocument/inlayHint", {
      textDocument: { uri: cellUri(0) },
      range: { start: { line: 0, character: 0 }, end: { line: 1, character: 0 } },
    });
    const labels = hints.map(({ label }) => plain(label)).join("\n");
    assert.match(labels, /peak in/);
    const line = cells[0]!.split("\n").findIndex((text) => text.startsWith("class Net"));
    const hover = await client.hover(cellUri(1), { line, character: 7 });
    const shown = JSON.stringify(hover?.contents);
    assert.match(shown, /Peak of a training step/);
    for (const text of [over, labels, shown]) assert.doesNotMatch(text, /line \d/);
  });

  it("are fixed on the last line of a cell, whose line end is nobody's", async () => {
    const head =
      "import torch\nmodel = torch.nn.Linear(9, 9)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)";
    const loop =
      "for data in loader:\n    optimizer.zero_grad()\n    model(data).sum().backward()\n    optimizer.step()";
    await open([head, `${loop}\n    torch.cuda.empty_cache()`, "print(1)"]);
    const { diagnostics } = await client.pushed(cellUri(1), (params) => params.diagnostics.length > 0);
    const finding = diagnostics.find(({ code }) => code === "empty-cache-in-loop");
    assert.ok(finding);
    const after = { start: { line: 3, character: 20 }, end: { line: 4, character: 28 } };
    const [fix] = await client.actionsFor(cellUri(1), finding);
    assert.deepEqual(fix?.edit?.changes, { [cellUri(1)]: [{ range: after, newText: "" }] });
    const only = ["source.fixAll.vramlint"];
    const [all] = await client.actions(cellUri(1), finding.range, { only });
    assert.deepEqual(all?.edit?.changes, { [cellUri(1)]: [{ range: after, newText: "" }] });
  });

  it("clear their cells when they are closed", async () => {
    await open(cells);
    await client.pushed(cellUri(2));
    client.published.length = 0;
    await client.connection.sendNotification("notebookDocument/didClose", {
      notebookDocument: { uri: notebook },
      cellTextDocuments: cells.map((_text, index) => ({ uri: cellUri(index) })),
    });
    await client.pushed(cellUri(2), ({ diagnostics }) => diagnostics.length === 0);
  });
});
