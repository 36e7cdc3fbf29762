/** The pages of the rules about `# vram:` comments: complete in both languages, with true examples. */
import assert from "node:assert/strict";
import { directiveRules } from "../../../server/src/directives/catalogue";
import { languages } from "../../../server/src/messages/message";
import { readRulePage } from "../../../server/src/workspace/rule-pages";
import { findingsIn } from "../../support/check";
import { startParser } from "./helpers";

function examplesIn(page: string): string[] {
  return [...page.matchAll(/^```python\n([\s\S]*?)^```/gm)].map((match) => match[1] ?? "");
}

describe("pages about `# vram:` comments", () => {
  before(startParser);

  for (const { name } of directiveRules) {
    it(`${name} has all parts in both languages and the same examples`, async () => {
      const pages = await Promise.all(languages.map((language) => readRulePage(name, language)));
      for (const page of pages) {
        assert.equal(page?.split("\n")[0], `# ${name}`);
        assert.equal(page.match(/^## /gm)?.length, 7);
      }
      const [english = "", chinese = ""] = pages;
      assert.equal(examplesIn(english).length, 2);
      assert.deepEqual(examplesIn(chinese), examplesIn(english));
    });

    it(`${name} reports its bad example and nothing else, and not the good one`, async () => {
      const [bad = "", good = ""] = examplesIn((await readRulePage(name, "en")) ?? "");
      assert.deepEqual([...new Set(findingsIn(bad).map(({ rule }) => rule))], [name]);
      assert.deepEqual(findingsIn(good), []);
    });
  }

  it("are absent for what is no rule", async () => {
    assert.equal(await readRulePage("no-such-rule", "en"), undefined);
  });
});
