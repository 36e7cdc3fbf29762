/** Configuration files that a script names: where they are looked for, and what is never read. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { followImports } from "../../../server/src/workspace/imports";

describe("files that a script names", () => {
  let folder: string;
  const write = (name: string, text: string): void => {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  const followed = (script: string) =>
    followImports(path.join(folder, script), { root: path.join(folder, "project") });

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "beside-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("lie beside it or in a folder above, within the workspace", () => {
    write("project/tools/own.yaml", "a: 1");
    write("project/configs/main.yml", "a: 2");
    write("outside.yaml", "a: 3");
    const { readBeside } = followed("project/tools/train.py");
    assert.equal(readBeside("own.yaml"), "a: 1");
    assert.equal(readBeside("configs/main.yml"), "a: 2");
    assert.equal(readBeside("../configs/main.yml"), "a: 2");
    assert.equal(readBeside("../../outside.yaml"), undefined);
    assert.equal(readBeside(path.join(folder, "outside.yaml")), undefined);
    assert.equal(readBeside(path.join(folder, "project/configs/main.yml")), "a: 2");
  });

  it("are not read where it depends on the current folder which one is meant", () => {
    write("project/tools/config.json", "{}");
    write("project/config.json", "{}");
    assert.equal(followed("project/tools/train.py").readBeside("config.json"), "{}", "the same text");
    write("project/config.json", "[]");
    assert.equal(followed("project/tools/train.py").readBeside("config.json"), undefined);
  });

  it("are small, and of the kinds that hold configurations", () => {
    write("project/large.yaml", `a: ${"x".repeat(300 * 1024)}`);
    write("project/secret.txt", "a: 1");
    const { readBeside } = followed("project/train.py");
    assert.equal(readBeside("large.yaml"), undefined);
    assert.equal(readBeside("secret.txt"), undefined);
  });

  it("make what rests on them old when they change or come", () => {
    write("project/config.yaml", "a: 1");
    const imports = followed("project/train.py");
    const { readBeside } = imports;
    const isCurrent = (): boolean => imports.isCurrent();
    readBeside("config.yaml");
    readBeside("later.yaml");
    assert.ok(isCurrent());
    write("project/config.yaml", "a: 2");
    assert.ok(!isCurrent());
    write("project/config.yaml", "a: 1");
    assert.ok(isCurrent());
    write("project/later.yaml", "b: 1");
    assert.ok(!isCurrent());
  });
});
