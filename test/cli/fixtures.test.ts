/** The command line finds and fixes in every fixture what the unit tests find and fix in it. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { findingsIn, marksOfFindings } from "../support/check";
import { fixtures, fixturesFolder, goldenBeside } from "../support/fixtures";
import { describeMarks } from "../support/marks";
import { loadParser } from "../support/parser";
import { TemporaryFolder } from "../unit/workspace/folder";
import { vramlint } from "./run";

interface Report {
  readonly findings: readonly { readonly file: string; readonly line: number; readonly rule: string }[];
  readonly files: number;
}

describe("fixtures on the command line", () => {
  before(loadParser);

  it("are reported as the rules report them", async () => {
    const { stdout, stderr } = await vramlint(["check", "--format", "json", "rules", "reported"], {
      cwd: fixturesFolder,
    });
    assert.equal(stderr, "");
    const report = JSON.parse(stdout) as Report;
    for (const { name, text } of ["rules", "reported"].flatMap(fixtures)) {
      const here = report.findings.filter(({ file }) => file === name);
      assert.deepEqual(describeMarks(here), describeMarks(marksOfFindings(text, findingsIn(text))), name);
    }
  });

  it("are fixed to their golden results", async () => {
    const folder = new TemporaryFolder();
    try {
      const fixable = ["rules", "reported"]
        .flatMap(fixtures)
        .filter((fixture) => goldenBeside(fixture, "fixed"));
      assert.ok(fixable.length > 0);
      for (const { name, text } of fixable) folder.write(name, text);
      await vramlint(["check", "--fix"], { cwd: folder.path });
      for (const fixture of fixable) {
        assert.equal(
          readFileSync(folder.join(fixture.name), "utf8"),
          goldenBeside(fixture, "fixed"),
          fixture.name,
        );
      }
    } finally {
      folder.remove();
    }
  });

  it("of bad input are checked or named, never an error inside", async () => {
    const { code, stderr } = await vramlint(["check", "bad-input"], { cwd: fixturesFolder });
    assert.equal(code, 2);
    assert.doesNotMatch(stderr, /inside/);
    for (const line of stderr.trimEnd().split("\n")) assert.match(line, /^vramlint: bad-input\/[\w-]+\.py: /);
  });
});
