import assert from "node:assert/strict";
import { measureGpu } from "../../support/gpu";
import { loadParser } from "../../support/parser";

describe("estimates against measured peaks of a Tesla T4", () => {
  before(loadParser);

  it("builds the models with the parameters they had there", () => {
    for (const row of measureGpu()) {
      if (typeof row === "string") assert.fail(row);
      assert.equal(row.parameters, row.expectedParameters, row.model);
    }
  });

  it("is off by 5 % at most on average, and never says less than it would by a tenth", () => {
    const errors = measureGpu().map((row) =>
      typeof row === "string" ? Number.NaN : (row.estimated - row.measured) / row.measured,
    );
    const mean = errors.reduce((sum, error) => sum + Math.abs(error), 0) / errors.length;
    assert.ok(mean <= 0.05, `${mean}`);
    for (const error of errors) assert.ok(Math.abs(error) <= 0.1, `${error}`);
  });
});
