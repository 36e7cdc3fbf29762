/** What docs/estimates.md and its twin say of the accuracy is what comes out today. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { accuracyFigures, accuracyPages, pageWithFigures } from "../support/accuracy-tables";
import type { AccuracyFigures } from "../support/accuracy-tables";
import { loadParser } from "../support/parser";

describe("the tables of the page about estimates", () => {
  let figures: AccuracyFigures;
  before(async function () {
    this.timeout(300_000); // every model of the goldens
    await loadParser();
    figures = accuracyFigures();
  });

  for (const language of ["en", "zh-cn"] as const) {
    it(`hold in ${language} (npm run accuracy -- --write brings them up to date)`, () => {
      assert.equal(readFileSync(accuracyPages[language], "utf8"), pageWithFigures(figures, language));
    });
  }
});
