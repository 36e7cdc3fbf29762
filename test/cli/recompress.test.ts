import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { TextReader, Uint8ArrayReader, Uint8ArrayWriter, ZipReader, ZipWriter } from "@zip.js/zip.js";
import { recompress } from "../../scripts/recompress.mjs";

/** Long enough for Zopfli to find something. */
const page = readFileSync(path.join(__dirname, "../../docs/rules.md"), "utf8");

async function contentsOf(file: string): Promise<Map<string, string>> {
  const contents = new Map<string, string>();
  for (const entry of await new ZipReader(new Uint8ArrayReader(readFileSync(file))).getEntries()) {
    if (entry.directory) continue;
    const bytes = await entry.getData(new Uint8ArrayWriter(), { checkCrc32: true });
    contents.set(entry.filename, new TextDecoder().decode(bytes));
  }
  return contents;
}

describe("packing an archive tighter", () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "vramlint-zip-"));
  after(() => rmSync(folder, { recursive: true }));

  it("makes it smaller and leaves its files as they are", async () => {
    const file = path.join(folder, "archive.zip");
    const texts = new Map([
      ["extension/page.md", page],
      ["extension/说明.txt", "显存"],
      ["extension/empty.txt", ""],
    ]);
    const archive = new ZipWriter(new Uint8ArrayWriter(), { useWebWorkers: false });
    for (const [name, text] of texts) await archive.add(name, new TextReader(text));
    writeFileSync(file, await archive.close());
    const before = statSync(file).size;
    await recompress(file);
    assert.deepEqual(await contentsOf(file), texts);
    assert.ok(statSync(file).size < 0.98 * before, `${statSync(file).size} of ${before} bytes`);
  });
});
