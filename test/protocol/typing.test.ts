/** Findings on the line that is being typed wait for a pause; everything else is told at once. */
import assert from "node:assert/strict";
import { script, uriOf } from "./support/scripts";
import { atOnceCapabilities, pushCapabilities, TestClient } from "./support/test-client";

describe("while somebody types", () => {
  const uri = uriOf("train.py");
  let client: TestClient;
  afterEach(() => client.kill());

  const codes = async (): Promise<string[]> =>
    (await client.pull(uri)).map(({ code }) => String(code)).sort();

  /** Key by key, behind a piece of the text. */
  async function type(behind: string, keys: string): Promise<void> {
    let { line, character } = client.positionOf(uri, behind, behind.length);
    for (const key of keys) {
      const at = { line, character };
      await client.change(uri, [{ range: { start: at, end: at }, text: key }]);
      [line, character] = key === "\n" ? [line + 1, 0] : [line, character + 1];
    }
  }

  it("half a header is no mistake, until the typing pauses", async () => {
    client = await TestClient.start();
    await client.open(uri, `# vram: \n${script}`);
    const before = await codes();
    await type("# vram: ", "device=8");
    assert.deepEqual(await codes(), before);
    await client.until(() => (client.refreshed.diagnostics > 0 ? true : undefined));
    assert.deepEqual(await codes(), [...before, "budget-invalid"].sort());
    await type("device=8", "GiB");
    assert.deepEqual(await codes(), before);
  });

  it("a save counts as a pause", async () => {
    client = await TestClient.start();
    await client.open(uri, `# vram: \n${script}`);
    const before = await codes();
    await type("# vram: ", "devi");
    assert.deepEqual(await codes(), before);
    await client.save(uri);
    assert.deepEqual(await codes(), [...before, "budget-invalid"].sort());
  });

  it("clients that are pushed to are told after the pause", async () => {
    client = await TestClient.start({ capabilities: pushCapabilities });
    await client.open(uri, `# vram: \n${script}`);
    await type("# vram: ", "devi");
    const first = await client.pushed(uri, ({ version }) => version === 5);
    assert.ok(first.diagnostics.every(({ code }) => code !== "budget-invalid"));
    await client.pushed(uri, ({ diagnostics }) => diagnostics.some(({ code }) => code === "budget-invalid"));
  });

  it("clients that cannot be told later are told at once", async () => {
    client = await TestClient.start({ capabilities: atOnceCapabilities });
    await client.open(uri, `# vram: \n${script}`);
    await type("# vram: ", "devi");
    assert.ok((await codes()).includes("budget-invalid"));
  });
});
