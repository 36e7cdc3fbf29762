/** Many files in several threads: the bundle, as threads load it. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { TemporaryFolder } from "../unit/workspace/folder";
import { clean, flawed, repaired } from "./run";

const program = path.join(process.env["VRAMLINT_DIST"] ?? path.join(__dirname, "../../dist"), "cli.js");

describe("threads of the command line", () => {
  const folder = new TemporaryFolder();
  const names = Array.from({ length: 240 }, (_, index) => `f${index}.py`);
  before(function () {
    if (!existsSync(program)) this.skip();
    for (const [index, name] of names.entries()) folder.write(name, index % 3 === 0 ? flawed : clean);
    folder.write("f7.py", Buffer.from([0xff, 0xfe, 0x41]));
  });
  after(() => folder.remove());

  const run = (threads: number, ...argv: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, "check", ...argv], {
      cwd: folder.path,
      encoding: "utf8",
      maxBuffer: 16 * 1024 * 1024,
      env: { PATH: process.env["PATH"], VRAMLINT_THREADS: String(threads) },
    });
    return { status, stdout, stderr };
  };

  it("say the same as one, in the same order", () => {
    for (const format of ["text", "json"]) {
      const one = run(1, "--format", format);
      assert.equal(one.status, 2);
      assert.match(one.stderr, /f7\.py: this is UTF-16/);
      assert.match(one.stdout, /f0\.py[^]*f3\.py/);
      assert.deepEqual(run(2, "--format", format), one);
    }
  });

  it("fix what one would", () => {
    const { stdout } = run(2, "--fix");
    assert.match(stdout, /80/);
    for (const [index, name] of names.entries()) {
      if (index === 7) continue;
      assert.equal(readFileSync(folder.join(name), "utf8"), index % 3 === 0 ? repaired : clean, name);
    }
  });
});
