import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { render } from "../../../server/src/messages/message";
import {
  decodePython,
  encodePython,
  readTextFile,
  sizeLimit,
  writeTextFile,
} from "../../../server/src/workspace/text";
import type { TextFile } from "../../../server/src/workspace/text";
import { TemporaryFolder } from "./folder";

function decoded(bytes: Uint8Array): string {
  const result = decodePython(bytes, "a.py");
  if ("problem" in result) throw new Error(render(result.problem.message, "en"));
  return result.file.text;
}

function problemOf(bytes: Uint8Array): string {
  const result = decodePython(bytes, "a.py");
  assert.ok("problem" in result);
  return render(result.problem.message, "en");
}

const latin1 = (text: string): Uint8Array => Buffer.from(text, "latin1");

describe("decoding of Python files", () => {
  it("reads UTF-8 with and without byte order mark, and keeps line ends", () => {
    assert.equal(decoded(Buffer.from("# ü 训练 😀\r\nx\ry\n")), "# ü 训练 😀\r\nx\ry\n");
    assert.equal(decoded(Buffer.from("\ufeffx = 1\n")), "x = 1\n");
    assert.equal(decoded(new Uint8Array()), "");
  });

  it("follows a coding comment on the first two lines", () => {
    assert.equal(decoded(latin1("# -*- coding: latin-1 -*-\n# \xfc\n")), "# -*- coding: latin-1 -*-\n# ü\n");
    assert.equal(decoded(latin1("#!/bin/x\n# vim: set fileencoding=ISO_8859_1 :\n#\xe9")).at(-1), "é");
    const gbk = Buffer.concat([Buffer.from("# coding: gbk\n# "), Uint8Array.of(0xd1, 0xb5, 0xc1, 0xb7)]);
    assert.equal(decoded(gbk), "# coding: gbk\n# 训练");
    assert.equal(decoded(Buffer.from("# coding: utf-8-sig\n# é")).at(-1), "é");
  });

  it("does not follow one further down or behind code", () => {
    assert.match(problemOf(latin1("\n\n# coding: latin-1\n# \xfc")), /not valid UTF-8 at byte 22/);
    assert.match(problemOf(latin1("x = 1\n# coding: latin-1\n# \xfc")), /not valid UTF-8/);
  });

  it("says where UTF-8 ends", () => {
    assert.match(problemOf(latin1("# \xfc")), /^a\.py: not valid UTF-8 at byte 2,/);
    assert.match(problemOf(Buffer.concat([Buffer.from("é\ufffd"), Uint8Array.of(0xff)])), /at byte 5,/);
    assert.match(problemOf(Uint8Array.of(0x78, 0xe2, 0x82)), /at byte 1,/);
  });

  it("refuses what Python refuses, and names it", () => {
    assert.match(problemOf(Buffer.from("x = 1\0")), /NUL byte at 5/);
    assert.match(problemOf(Buffer.from("\ufeffx = 1", "utf16le")), /UTF-16/);
    assert.match(problemOf(Buffer.from("# coding: klingon\n")), /encoding klingon .* not known/);
    assert.match(problemOf(Buffer.from("# coding: utf-16\n")), /encoding utf-16 .* not known/);
    assert.match(problemOf(latin1("# coding: ascii\n\xfc")), /not valid ascii/);
    assert.match(
      problemOf(Buffer.concat([Buffer.from("# coding: gbk\n"), Uint8Array.of(0x81, 0x20)])),
      /not valid gbk/,
    );
  });

  it("writes back what it read", () => {
    for (const bytes of [
      Buffer.from("# ü\r\n"),
      Buffer.from("\ufeffx\n"),
      latin1("# coding: latin-1\n\xfc"),
      Buffer.from("# coding: ascii\nx"),
    ]) {
      const result = decodePython(bytes, "a.py");
      assert.ok("file" in result);
      assert.deepEqual(
        Buffer.from(encodePython(result.file.text, result.file.encoding) ?? []),
        Buffer.from(bytes),
      );
    }
    assert.equal(encodePython("训", { name: "latin-1", hasBom: false }), undefined);
    assert.equal(encodePython("x", { name: "gbk", hasBom: false }), undefined);
  });
});

describe("files", () => {
  let folder: TemporaryFolder;

  beforeEach(() => (folder = new TemporaryFolder()));
  afterEach(() => folder.remove());

  async function read(name: string): Promise<TextFile> {
    const result = await readTextFile(folder.join(name), name);
    if ("problem" in result) throw new Error(render(result.problem.message, "en"));
    return result.file;
  }

  async function readingFails(name: string): Promise<string> {
    const result = await readTextFile(folder.join(name), name);
    assert.ok("problem" in result);
    return `${result.problem.severity}: ${render(result.problem.message, "en")}`;
  }

  it("are not read when they are folders, links to nothing, missing, or no files", async () => {
    folder.write("x.py/", "");
    symlinkSync("nowhere", folder.join("link.py"));
    execFileSync("mkfifo", [folder.join("pipe.py")]);
    assert.match(await readingFails("x.py"), /^error: x\.py: this is a folder/);
    assert.match(await readingFails("link.py"), /^error: link\.py: /);
    assert.match(await readingFails("missing.py"), /^error: missing\.py: there is no such file/);
    assert.match(await readingFails("pipe.py"), /neither a regular file/);
    assert.match(await readingFails("a\0b.py"), /^error: /);
  });

  it("over the limit get a note", async () => {
    folder.write("large.py", Buffer.alloc(2 * sizeLimit, "#"));
    folder.write("exact.py", Buffer.alloc(sizeLimit, "#"));
    assert.match(
      await readingFails("large.py"),
      /^note: large\.py: not checked, 2\.0 MiB is over the limit of 1 MiB/,
    );
    assert.equal((await read("exact.py")).text.length, sizeLimit);
  });

  it("keep mode, encoding, byte order mark and line ends when written", async () => {
    folder.write("a.py", Buffer.from("\ufeffx\r\ny\r\n"));
    chmodSync(folder.join("a.py"), 0o751);
    const file = await read("a.py");
    assert.equal(await writeTextFile(file, file.text.replace("y", "é")), undefined);
    assert.equal(readFileSync(folder.join("a.py"), "utf8"), "\ufeffx\r\né\r\n");
    assert.equal(statSync(folder.join("a.py")).mode & 0o777, 0o751);
    assert.deepEqual(readdirSync(folder.path), ["a.py"], "nothing is left behind");
  });

  it("are written through links", async () => {
    folder.write("real.py", "x\n");
    symlinkSync("real.py", folder.join("link.py"));
    assert.equal(await writeTextFile(await read("link.py"), "y\n"), undefined);
    assert.ok(lstatSync(folder.join("link.py")).isSymbolicLink());
    assert.equal(readFileSync(folder.join("real.py"), "utf8"), "y\n");
  });

  it("are left alone when they changed, went, or cannot hold the text", async () => {
    folder.write("a.py", "x\n");
    const file = await read("a.py");
    writeFileSync(folder.join("a.py"), "changed\n");
    const changed = await writeTextFile(file, "y\n", "a.py");
    assert.match(changed ? render(changed.message, "en") : "", /^a\.py: changed while it was being checked/);
    assert.equal(readFileSync(folder.join("a.py"), "utf8"), "changed\n");

    folder.write("latin.py", latin1("# coding: latin-1\n"));
    const latin = await read("latin.py");
    const unencodable = await writeTextFile(latin, `${latin.text}训`, "latin.py");
    assert.match(
      unencodable ? render(unencodable.message, "en") : "",
      /cannot be written in its encoding latin-1/,
    );

    folder.write("gone/b.py", "x\n");
    const gone = await read("gone/b.py");
    rmSync(folder.join("gone"), { recursive: true });
    const missing = await writeTextFile(gone, "y\n", "b.py");
    assert.equal(missing?.severity, "error");
    assert.deepEqual(readdirSync(folder.path).sort(), ["a.py", "latin.py"]);
  });
});
