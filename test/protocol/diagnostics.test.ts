import assert from "node:assert/strict";
import { DiagnosticSeverity } from "vscode-languageserver/node";
import { rulesInScript, script, uriOf } from "./support/scripts";
import { plain, pullCapabilities, pushCapabilities, TestClient } from "./support/test-client";

describe("diagnostics", () => {
  const uri = uriOf("train.py");
  let client: TestClient;
  const start = async (...args: Parameters<typeof TestClient.start>): Promise<void> => {
    client = await TestClient.start(...args);
  };
  afterEach(() => client.kill());

  describe("pulled", () => {
    it("have place, rule, level, related places, page and data", async () => {
      await start();
      await client.open(uri, script);
      const items = await client.pull(uri);
      assert.deepEqual(items.map(({ code }) => code).sort(), rulesInScript);
      const evaluation = items.find(({ code }) => code === "eval-without-no-grad");
      assert.ok(evaluation);
      assert.equal(evaluation.source, "vramlint");
      assert.equal(evaluation.severity, DiagnosticSeverity.Error);
      assert.equal(evaluation.range.start.line, client.positionOf(uri, "output = model(data)").line);
      assert.match(evaluation.codeDescription?.href ?? "", /^file:.*eval-without-no-grad.*\.md$/);
      assert.ok(evaluation.relatedInformation !== undefined && evaluation.relatedInformation.length > 0);
      assert.ok(evaluation.relatedInformation.every(({ location }) => location.uri === uri));
      assert.ok(evaluation.data);
    });

    it("are not also pushed", async () => {
      await start();
      await client.open(uri, script);
      await client.pull(uri);
      await client.change(uri, [{ text: script + "\n" }]);
      await client.pull(uri);
      await client.hover(uri, { line: 0, character: 0 });
      assert.deepEqual(client.published, []);
    });

    it("are unchanged while nothing changes, and new after an edit", async () => {
      await start();
      await client.open(uri, script);
      const first = await client.report(uri);
      assert.ok(first.kind === "full" && first.resultId !== undefined);
      const second = await client.report(uri, first.resultId);
      assert.equal(second.kind, "unchanged");
      await client.replace(uri, "        torch.cuda.empty_cache()\n", "");
      const third = await client.report(uri, first.resultId);
      assert.ok(third.kind === "full");
      const codes = third.items.map(({ code }) => code);
      assert.deepEqual(codes, ["eval-without-no-grad"]);
    });

    it("are empty for a document that is not open or no Python", async () => {
      await start();
      assert.deepEqual(await client.pull(uriOf("unknown.py")), []);
      await client.open(uriOf("notes.txt"), script, "plaintext");
      assert.deepEqual(await client.pull(uriOf("notes.txt")), []);
    });

    it("are empty after the document was closed", async () => {
      await start();
      await client.open(uri, script);
      assert.notDeepEqual(await client.pull(uri), []);
      await client.close(uri);
      assert.deepEqual(await client.pull(uri), []);
    });

    it("leave out what the client does not know", async () => {
      await start({ capabilities: { textDocument: { diagnostic: {} } } });
      await client.open(uri, script);
      for (const item of await client.pull(uri)) {
        assert.equal(item.codeDescription, undefined);
        assert.equal(item.relatedInformation, undefined);
        assert.equal(item.data, undefined);
      }
    });

    it("name the page as our own client asks", async () => {
      const rulePage = "command:vramlint.openRulePage?%5B%22{rule}%22%5D";
      await start({ initializationOptions: { rulePage } });
      await client.open(uri, script);
      const hrefs = (await client.pull(uri)).map(({ codeDescription }) => codeDescription?.href);
      assert.ok(
        hrefs.includes("command:vramlint.openRulePage?%5B%22eval-without-no-grad%22%5D"),
        String(hrefs),
      );
    });
  });

  describe("pushed", () => {
    it("come with the version they are for, again after an edit, and go when the document is closed", async () => {
      await start({ capabilities: pushCapabilities });
      await client.open(uri, script);
      const first = await client.pushed(uri);
      assert.equal(first.version, 1);
      assert.deepEqual(first.diagnostics.map(({ code }) => code).sort(), rulesInScript);
      await client.replace(uri, "        torch.cuda.empty_cache()\n", "");
      const second = await client.pushed(uri, ({ version }) => version === 2);
      assert.deepEqual(
        second.diagnostics.map(({ code }) => code),
        ["eval-without-no-grad"],
      );
      await client.close(uri);
      await client.pushed(uri, ({ diagnostics }) => diagnostics.length === 0);
    });

    it("of an old version are never the last that is said", async () => {
      await start({ capabilities: pushCapabilities });
      await client.open(uri, script);
      for (let count = 0; count < 40; count++) await client.change(uri, [{ text: `${script}# ${count}\n` }]);
      await client.change(uri, [{ text: "import torch\n" }]);
      const last = await client.pushed(uri, ({ version }) => version === 42);
      assert.deepEqual(last.diagnostics, []);
      const versions = client.published.map(({ version }) => version ?? 0);
      assert.deepEqual(
        versions,
        [...versions].sort((a, b) => a - b),
      );
    });
  });

  it("are the same pulled and pushed", async () => {
    await start({ capabilities: pushCapabilities });
    await client.open(uri, script);
    const { diagnostics } = await client.pushed(uri);
    client.kill();
    await start({ capabilities: pullCapabilities });
    await client.open(uri, script);
    assert.deepEqual(await client.pull(uri), diagnostics);
  });

  it("are in Chinese for a Chinese client", async () => {
    await start({ locale: "zh-cn" });
    await client.open(uri, script);
    const items = await client.pull(uri);
    assert.ok(items.length > 0);
    for (const { message } of items) assert.match(plain(message), /\p{Script=Han}/u);
  });

  it("say once that a file over 1 MiB is not analysed", async () => {
    await start();
    const line = "x = 1  # a line of a very long file\n";
    await client.open(uri, script + line.repeat(Math.ceil((1024 * 1024) / line.length)));
    const items = await client.pull(uri);
    assert.equal(items.length, 1);
    assert.match(plain(items[0]?.message), /larger than 1 MiB/);
    await client.change(uri, [{ text: script }]);
    assert.deepEqual((await client.pull(uri)).map(({ code }) => code).sort(), rulesInScript);
  });
});
