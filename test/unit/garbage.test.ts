import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import path from "node:path";
import type { Kept } from "../bench/kept";

const program = path.join(__dirname, "../bench/run.mjs");

/** In a process of its own, as a bundle: loaders of TypeScript make old objects of their own. */
function keptTexts(): readonly (Kept & { readonly name: string })[] {
  // Without the compilers: the machine code that they make is old, and points to what it was made for.
  const flags = ["--expose-gc", "--no-opt", "--no-maglev"];
  const { stdout, stderr } = spawnSync(process.execPath, [...flags, program, "--kept"], { encoding: "utf8" });
  assert.equal(stderr, "");
  return JSON.parse(stdout) as (Kept & { readonly name: string })[];
}

describe("what a check leaves behind", () => {
  // A tree with its facts takes 30 to 80 bytes a character.
  it("is a small part of the tree", () => {
    const texts = keptTexts();
    assert.equal(texts.length, 2);
    for (const { name, bytes, textLength } of texts)
      assert.ok(bytes < 5 * textLength, `${Math.round(bytes)} bytes of ${name} (${textLength} characters)`);
  });
});
