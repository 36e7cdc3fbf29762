import assert from "node:assert/strict";
import { neverRuns } from "../../../server/src/python/never-runs";
import { parseModule } from "../../../server/src/python/parse";
import { buildScopes } from "../../../server/src/python/scope";
import { loadParser } from "../../support/parser";

/** The names `dead` of a text that lie in code that never runs, and those that do not, as 1 and 0. */
function verdicts(lines: readonly string[]): string {
  const { module, source } = parseModule(lines.join("\n"));
  const scopes = buildScopes(module, {});
  return [...source.text.matchAll(/\bmark\b/g)]
    .map(({ index }) => (neverRuns({ start: index, end: index + 4 }, module, scopes) ? "1" : "0"))
    .join("");
}

describe("code that never runs", () => {
  before(loadParser);

  it("stands behind constants", () => {
    assert.equal(verdicts(["if False:", "    mark", "else:", "    mark"]), "10");
    assert.equal(verdicts(["if 0:", "    for x in y:", "        mark", "mark"]), "10");
    assert.equal(verdicts(["if True:", "    mark", "elif a:", "    mark", "else:", "    mark"]), "011");
    assert.equal(verdicts(["while False:", "    mark", "else:", "    mark"]), "10");
    assert.equal(
      verdicts(["if not True:", "    mark", "if a and False:", "    mark", "if a or True:", "    mark"]),
      "100",
    );
    assert.equal(verdicts(["x = mark if False else mark"]), "10");
  });

  it("stands behind a switch that the file sets once", () => {
    const use = ["def f():", "    if DEBUG:", "        mark"];
    assert.equal(verdicts(["DEBUG = False", ...use]), "1");
    assert.equal(verdicts(["DEBUG = True", ...use]), "0");
    assert.equal(
      verdicts(["DEBUG = False", ...use, "def g():", "    global DEBUG", "    DEBUG = True"]),
      "0",
    );
    assert.equal(verdicts(["DEBUG = False", "DEBUG = args.debug", ...use]), "0");
    assert.equal(verdicts(["from settings import DEBUG", ...use]), "0");
    assert.equal(verdicts(["DEBUG = False", "exec(open('overrides.py').read())", ...use]), "0");
    assert.equal(verdicts(["DEBUG = False", "globals().update(overrides)", ...use]), "0");
    assert.equal(verdicts(["def f(debug=False):", "    if debug:", "        mark"]), "0");
  });

  it("is no choice among several ways", () => {
    assert.equal(verdicts(["data = 'cifar'", "if data == 'mnist':", "    mark"]), "0");
    assert.equal(
      verdicts(["first = True", "for x in y:", "    if first:", "        mark", "    first = False"]),
      "0",
    );
  });
});
