import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { Diagnostic, TextDocumentContentChangeEvent } from "vscode-languageserver/node";
import { TextDocument } from "vscode-languageserver-textdocument";
import { fixtures } from "../support/fixtures";
import { script, uriOf } from "./support/scripts";
import { atOnceCapabilities, TestClient } from "./support/test-client";

/** Set it higher for a long run, e.g. 10,000. */
const editCount = Number(process.env["VRAMLINT_RANDOM_EDITS"] ?? 500);

/** A small generator with a seed, so that a failure can be had again (https://en.wikipedia.org/wiki/Lehmer_random_number_generator). */
class Random {
  constructor(private state: number) {}

  below(limit: number): number {
    this.state = (this.state * 48271) % 2147483647;
    return this.state % limit;
  }

  of<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error("nothing to choose from");
    return item;
  }
}

const pieces = [
  "",
  "\n",
  "\r\n",
  "\r",
  " ",
  "    ",
  "(",
  ")",
  '"',
  '"""',
  "#",
  ":",
  "x",
  "é",
  "显存",
  "😀",
  "with torch.no_grad():\n",
  "model.eval()\n",
  "        torch.cuda.empty_cache()\n",
  "# vram: budget=6GiB\n",
  "def f(:\n",
  "for i in range(3):\n    pass\n",
];

function randomChange(document: TextDocument, random: Random): TextDocumentContentChangeEvent {
  if (random.below(60) === 0) return { text: script };
  const length = document.getText().length;
  const start = random.below(length + 1);
  const end = Math.min(length, start + (random.below(4) === 0 ? random.below(40) : random.below(3)));
  const range = { start: document.positionAt(start), end: document.positionAt(end) };
  return { range, text: random.of(pieces) };
}

/** Everything but the versions that the data carries. */
function essence(items: readonly Diagnostic[]): unknown {
  return items.map(({ data, ...rest }) => ({
    ...rest,
    fixes: (data as { fixes?: unknown } | undefined)?.fixes,
  }));
}

function withUri<Value>(value: Value, from: string, to: string): Value {
  return JSON.parse(JSON.stringify(value).replaceAll(from, to)) as Value;
}

/** Of another process, by Linux (https://man7.org/linux/man-pages/man5/proc_pid_status.5.html). */
function residentMegabytes(process: number | undefined): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${process ?? 0}/status`, "utf8"))?.[1];
  assert.ok(kilobytes);
  return Number(kilobytes) / 1024;
}

describe("edits", () => {
  let client: TestClient;
  let fresh: TestClient;
  before(async () => {
    const setup = { capabilities: atOnceCapabilities };
    [client, fresh] = await Promise.all([TestClient.start(setup), TestClient.start(setup)]);
  });
  after(() => {
    client.kill();
    fresh.kill();
  });

  const check = async (uri: string, name: string): Promise<void> => {
    const copy = uriOf(`fresh/${name}.py`);
    await fresh.open(copy, client.textOf(uri));
    const [incremental, anew] = await Promise.all([client.pull(uri), fresh.pull(copy)]);
    assert.deepEqual(essence(incremental), withUri(essence(anew), copy, uri), name);
    const [hints, freshHints] = await Promise.all([client.inlayHints(uri), fresh.inlayHints(copy)]);
    assert.deepEqual(hints, freshHints, name);
    await fresh.close(copy);
  };

  it(`give what a fresh start gives: ${editCount} random ones`, async function () {
    this.timeout(60_000 + editCount * 100);
    const random = new Random(20260101);
    const uri = uriOf("random.py");
    await client.open(uri, script);
    for (let count = 0; count < editCount; count++) {
      let document = TextDocument.create(uri, "python", 0, client.textOf(uri));
      const changes = [randomChange(document, random)];
      while (random.below(5) === 0) {
        document = TextDocument.update(document, changes.slice(-1), 0);
        changes.push(randomChange(document, random));
      }
      await client.change(uri, changes);
      if (random.below(3) === 0) continue;
      await check(uri, `edit ${count}`);
    }
    await check(uri, "last");
    assert.equal(client.process.exitCode, null);
    assert.deepEqual(
      client.log.filter((line) => /fail|broke|could not|unhandled/.test(line)),
      [],
    );
  });

  it("leave the memory of the server flat: 10,000 of them", async function () {
    if (process.platform !== "linux") this.skip();
    this.timeout(300_000);
    const random = new Random(20260102);
    const uri = uriOf("memory.py");
    const megabytes: number[] = [];
    // Newer versions of V8 let young garbage take as much as there is, and reach their plateau after 20,000 edits only.
    const client = await TestClient.start({ nodeOptions: ["--max-semi-space-size=8"] });
    await client.open(uri, script);
    for (let count = 1; count <= 10_000; count++) {
      const document = TextDocument.create(uri, "python", 0, client.textOf(uri));
      // The text stays as long as it is: what grows would be something else.
      const isLong = document.getText().length > 2 * script.length;
      await client.change(uri, [isLong ? { text: script } : randomChange(document, random)]);
      if (count % 4 === 0) await client.pull(uri);
      if (count % 2_000 === 0) megabytes.push(residentMegabytes(client.process.pid));
    }
    client.kill();
    console.log(`      MB after each 2,000 edits: ${megabytes.map((size) => size.toFixed(0)).join(", ")}`);
    const [first = 0] = megabytes;
    const last = Math.min(...megabytes.slice(-2));
    // A tree that is not freed takes some 100 KB: even a hundredth of them would not fit in here.
    assert.ok(last - first < 40, `${first.toFixed(0)} MB, then ${last.toFixed(0)} MB`);
  });

  it("typed letter by letter end with what the whole text gives", async () => {
    const uri = uriOf("typed.py");
    await client.open(uri, "");
    const text = script.slice(0, script.indexOf("def main"));
    let line = 0;
    let character = 0;
    for (const letter of text) {
      const position = { line, character };
      await client.change(uri, [{ range: { start: position, end: position }, text: letter }]);
      [line, character] = letter === "\n" ? [line + 1, 0] : [line, character + 1];
    }
    assert.equal(client.textOf(uri), text);
    await check(uri, "typed");
  });

  it("of every fixture: taking each line out and putting it back changes nothing", async function () {
    const all = fixtures("rules").filter((_fixture, index) => index % 5 === 0);
    if (all.length === 0) this.skip();
    for (const { name, text } of all) {
      const uri = uriOf(name);
      await client.open(uri, text);
      const before = essence(await client.pull(uri));
      const { lineCount } = TextDocument.create(uri, "python", 0, text);
      for (let line = 0; line + 1 < lineCount; line += 7) {
        const document = TextDocument.create(uri, "python", 0, client.textOf(uri));
        const range = { start: { line, character: 0 }, end: { line: line + 1, character: 0 } };
        const removed = document.getText(range);
        await client.change(uri, [{ range, text: "" }]);
        await client.pull(uri);
        await client.change(uri, [{ range: { start: range.start, end: range.start }, text: removed }]);
      }
      assert.equal(client.textOf(uri), text);
      assert.deepEqual(essence(await client.pull(uri)), before, name);
      await client.close(uri);
    }
  });
});
