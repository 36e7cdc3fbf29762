/** Every fixture gives exactly the findings that are marked in it, and its fixes the golden results beside it. */
import assert from "node:assert/strict";
import { applyEdits } from "../../../server/src/rules/fix";
import { loadParser } from "../../support/parser";
import { findingsIn, fixedText, marksOfFindings } from "../../support/check";
import { fixtures, goldenBeside } from "../../support/fixtures";
import { describeMarks, marksOf } from "../../support/marks";

describe("fixtures", () => {
  before(loadParser);

  for (const folder of ["rules", "reported", "projects"]) {
    for (const fixture of fixtures(folder)) {
      it(`${fixture.name} reports what is marked`, () => {
        const found = marksOfFindings(fixture.text, findingsIn(fixture.text, fixture));
        assert.deepEqual(describeMarks(found), describeMarks(marksOf(fixture.text)));
      });

      const fixed = goldenBeside(fixture, "fixed");
      if (fixed !== undefined) {
        it(`${fixture.name}: all safe fixes give the golden text`, () => {
          assert.equal(fixedText(fixture.text, fixture), fixed);
        });
      }

      const reviewed = goldenBeside(fixture, "review");
      if (reviewed !== undefined) {
        it(`${fixture.name}: the first fix to review gives the golden text`, () => {
          const fix = findingsIn(fixture.text, fixture)
            .flatMap(({ fixes }) => fixes)
            .find(({ safety }) => safety === "review");
          assert.ok(fix, "no fix to review");
          assert.equal(applyEdits(fixture.text, fix.edits), reviewed);
        });
      }
    }
  }
});
