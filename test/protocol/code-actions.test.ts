import assert from "node:assert/strict";
import type { CodeAction } from "vscode-languageserver/node";
import { script, uriOf } from "./support/scripts";
import { pushCapabilities, TestClient } from "./support/test-client";

describe("code actions", () => {
  const uri = uriOf("train.py");
  let client: TestClient;
  const start = async (...args: Parameters<typeof TestClient.start>): Promise<void> => {
    client = await TestClient.start(...args);
    await client.open(uri, script);
  };
  afterEach(() => client.kill());

  async function actionsAbout(rule: string): Promise<CodeAction[]> {
    const diagnostic = (await client.pull(uri)).find(({ code }) => code === rule);
    assert.ok(diagnostic, `no finding of ${rule}`);
    return client.actionsFor(uri, diagnostic);
  }

  async function findingsAfter(action: CodeAction | undefined): Promise<unknown[]> {
    assert.ok(action?.edit);
    const fixed = uriOf("fixed.py");
    await client.open(fixed, client.textAfter(uri, action.edit));
    return (await client.pull(fixed)).map(({ code }) => code);
  }

  it("offer the fixes first, the safe one preferred, then suppressions", async () => {
    await start();
    const actions = await actionsAbout("eval-without-no-grad");
    assert.ok(actions.every(({ kind }) => kind === "quickfix"));
    assert.ok(actions.every(({ diagnostics }) => diagnostics?.length === 1));
    assert.equal(actions[0]?.isPreferred, true);
    assert.ok(actions.slice(1).every(({ isPreferred }) => isPreferred !== true));
    const titles = actions.map(({ title }) => title);
    const suppressions = [
      "Ignore eval-without-no-grad on this line",
      "Ignore eval-without-no-grad in this file",
    ];
    assert.deepEqual(titles.slice(-2), suppressions);
    assert.ok(titles.length >= 4, `alternatives side by side: ${titles.join("; ")}`);
  });

  it("write the command line that the script cannot do without", async () => {
    client = await TestClient.start();
    const text = `import argparse
from torch import nn
parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, required=True)
args = parser.parse_args()
model = nn.Linear(4, args.width)
`;
    await client.open(uri, `${text}import torch\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n`);
    const at = client.positionOf(uri, "model = nn.Linear", 9);
    const actions = await client.actions(uri, { start: at, end: at });
    const title = "Write the command line into the header, with values to adjust: args=--width 10";
    const action = actions.find((one) => one.title === title);
    assert.match(client.textAfter(uri, action?.edit), /^# vram: args=--width 10\nimport argparse\n/);
  });

  it("wrap an evaluation in no_grad", async () => {
    await start();
    const [action] = await actionsAbout("eval-without-no-grad");
    const text = client.textAfter(uri, action?.edit);
    assert.match(
      text,
      /\n {4}with torch\.no_grad\(\):\n {8}for data, target in loader:\n {12}output = model\(data\)\n/,
    );
    assert.deepEqual(await findingsAfter(action), ["empty-cache-in-loop"]);
  });

  for (const place of ["on this line", "in this file"]) {
    it(`hide a finding ${place}, which then counts as used`, async () => {
      await start();
      for (const rule of ["eval-without-no-grad", "empty-cache-in-loop"]) {
        const action = (await actionsAbout(rule)).find(({ title }) => title === `Ignore ${rule} ${place}`);
        const others = (await client.pull(uri)).map(({ code }) => code).filter((code) => code !== rule);
        assert.deepEqual(await findingsAfter(action), others);
        await client.close(uriOf("fixed.py"));
      }
    });
  }

  it("extend a suppression that is there already", async () => {
    await start();
    const suppressed = script.replace(
      "output = model(data)",
      "output = model(data)  # vram: ignore[missing-zero-grad]",
    );
    await client.change(uri, [{ text: suppressed }]);
    const actions = await actionsAbout("eval-without-no-grad");
    const action = actions.find(({ title }) => title.includes("on this line"));
    assert.match(
      client.textAfter(uri, action?.edit),
      /# vram: ignore\[missing-zero-grad, eval-without-no-grad\]\n/,
    );
  });

  it("work for a client that gives no data back and for one that sends no diagnostics", async () => {
    await start();
    const diagnostic = (await client.pull(uri)).find(({ code }) => code === "eval-without-no-grad");
    assert.ok(diagnostic);
    const withData = await client.actionsFor(uri, diagnostic);
    const bare = { ...diagnostic, data: undefined };
    const withoutData = await client.actionsFor(uri, bare);
    const unasked = await client.actions(uri, diagnostic.range);
    const essence = (actions: CodeAction[]) => actions.map(({ title, edit }) => ({ title, edit }));
    assert.deepEqual(essence(withoutData), essence(withData));
    assert.deepEqual(essence(unasked), essence(withData));
  });

  it("never apply edits of an older version", async () => {
    await start();
    const stale = (await client.pull(uri)).find(({ code }) => code === "eval-without-no-grad");
    assert.ok(stale);
    await client.replace(uri, "import torch\n", "# a line more\nimport torch\n");
    const actions = await client.actionsFor(uri, stale);
    assert.deepEqual(
      actions.filter(({ edit }) => edit !== undefined),
      [],
    );
  });

  it("lead to the rule's page where the client can open it", async () => {
    await start({ initializationOptions: { commands: ["vramlint.openRulePage"] } });
    const last = (await actionsAbout("eval-without-no-grad")).at(-1);
    assert.equal(last?.title, "Open the page about eval-without-no-grad");
    assert.deepEqual(last.command?.arguments, ["eval-without-no-grad"]);
  });

  it("fix everything safe at once and leave nothing safe to fix", async () => {
    await start();
    const whole = { start: { line: 0, character: 0 }, end: { line: 99, character: 0 } };
    const context = { only: ["source.fixAll.vramlint"] };
    const actions = await client.actions(uri, whole, context);
    assert.deepEqual(
      actions.map(({ kind }) => kind),
      ["source.fixAll.vramlint"],
    );
    await client.change(uri, [{ text: client.textAfter(uri, actions[0]?.edit) }]);
    assert.deepEqual(await client.pull(uri), []);
    assert.deepEqual(await client.actions(uri, whole, context), []);
  });

  it("fix everything only when asked for it", async () => {
    await start();
    const whole = { start: { line: 0, character: 0 }, end: { line: 99, character: 0 } };
    const kinds = async (only?: string[]) => {
      const actions = await client.actions(uri, whole, only && { only });
      return new Set(actions.map(({ kind }) => kind));
    };
    assert.deepEqual(await kinds(), new Set(["quickfix"]));
    assert.deepEqual(await kinds(["quickfix"]), new Set(["quickfix"]));
    assert.deepEqual(await kinds(["source.fixAll"]), new Set(["source.fixAll.vramlint"]));
    assert.deepEqual(await kinds(["source.organizeImports"]), new Set());
    assert.deepEqual(await kinds(["notebook.source.fixAll"]), new Set(["notebook.source.fixAll.vramlint"]));
  });

  it("keep the line ends of a file", async () => {
    await start();
    await client.change(uri, [{ text: script.replaceAll("\n", "\r\n") }]);
    for (const action of await actionsAbout("eval-without-no-grad")) {
      const text = client.textAfter(uri, action.edit);
      assert.ok(!/(?<!\r)\n|\r(?!\n)/.test(text), action.title);
    }
    const whole = { start: { line: 0, character: 0 }, end: { line: 99, character: 0 } };
    const [all] = await client.actions(uri, whole, { only: ["source.fixAll"] });
    assert.ok(!/(?<!\r)\n|\r(?!\n)/.test(client.textAfter(uri, all?.edit)));
  });

  it("are left out for a client that knows commands only", async () => {
    await start({ capabilities: { ...pushCapabilities, textDocument: { diagnostic: {} } } });
    const [diagnostic] = await client.pull(uri);
    assert.ok(diagnostic);
    assert.deepEqual(await client.actionsFor(uri, diagnostic), []);
  });

  it("have Chinese titles for a Chinese client", async () => {
    await start({ locale: "zh-CN" });
    for (const { title } of await actionsAbout("eval-without-no-grad"))
      assert.match(title, /\p{Script=Han}/u);
  });
});
