import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { parseModule } from "../../../server/src/python/parse";
import type { Module } from "../../../server/src/python/tree";
import { checkText } from "../../../server/src/cli/checked-file";
import { followingImports, sharingTree } from "../../../server/src/cli/threads";
import { Disk, importResolver, withTreeOf } from "../../../server/src/workspace/imports";
import { loadParser } from "../../support/parser";
import { TemporaryFolder } from "./folder";

const helpers = `import torch
def train(model, loader, loss_function):
    total = 0
    for inputs, targets in loader:
        loss = loss_function(model(inputs), targets)
        loss.backward()
        total += loss
`;

describe("a file that is imported and checked", () => {
  before(loadParser);

  let folder: TemporaryFolder;
  beforeEach(() => (folder = new TemporaryFolder()));
  afterEach(() => folder.remove());

  function write(name: string, text: string): string {
    folder.write(name, text);
    return folder.join(name);
  }

  const treeIn = (file: string, text: string): Module => withTreeOf(file, text, ({ module }) => module);

  it("has one tree", () => {
    const file = write("helpers.py", helpers);
    const imported = importResolver(write("train.py", ""))("helpers", 0, undefined);
    assert.ok(imported);
    assert.notEqual(treeIn(file, helpers), treeIn(file, helpers), "nobody has parsed it yet");
    const { module } = imported;
    assert.equal(treeIn(file, helpers), module);
  });

  it("has a tree of its own where the text is another one", () => {
    const file = write("helpers.py", helpers);
    const imported = importResolver(write("train.py", ""))("helpers", 0, undefined);
    assert.ok(imported?.module);
    assert.notEqual(treeIn(file, `${helpers}\n`), imported.module);
  });

  it("forgets what others found out about the tree, before and afterwards", () => {
    const file = write("helpers.py", helpers);
    const imported = importResolver(write("train.py", ""))("helpers", 0, undefined);
    const { memos } = imported?.module ?? parseModule("").module;
    memos.set("before", 1);
    withTreeOf(file, helpers, ({ module }) => {
      assert.equal(module.memos.size, 0);
      module.memos.set("meanwhile", 1);
    });
    assert.equal(memos.size, 0);
  });

  it("has the same findings, whichever of the files is checked first", () => {
    const script =
      "from helpers import train\nfrom torch import nn\ntrain(nn.Linear(2, 2), [], nn.MSELoss())\n";
    const files = [write("helpers.py", helpers), write("train.py", script)];
    const findings = (order: readonly string[]): readonly string[] => {
      const disk = new Disk();
      return order
        .flatMap((file) => {
          const place = { file, root: folder.path };
          const options = followingImports({}, place, disk);
          const text = readFileSync(file, "utf8");
          return checkText(file, text, options, undefined, undefined, sharingTree(place)).findings;
        })
        .map(({ rule, span }) => `${rule} ${span.start}`)
        .sort();
    };
    const found = findings(files);
    assert.ok(
      found.some((finding) => finding.startsWith("graph-retained-after-backward")),
      found.join(),
    );
    assert.deepEqual(findings([...files].reverse()), found);
    assert.deepEqual(findings(files), found);
  });
});
