import assert from "node:assert/strict";
import { currentText, generatedFiles } from "../../../scripts/generated";

describe("generated files", () => {
  it("are what `npm run generate` writes", () => {
    for (const [file, text] of generatedFiles()) {
      assert.equal(currentText(file), text, `${file} is stale: run \`npm run generate\``);
    }
  });
});
