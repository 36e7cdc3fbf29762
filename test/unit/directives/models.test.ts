/** The headers of the models that the estimates are tested with: none has a mistake, and all of it is read. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { readHeader } from "../../../server/src/directives/header";
import { render } from "../../../server/src/messages/message";
import { parseModule } from "../../../server/src/python/parse";
import { startParser } from "./helpers";

const models = path.join(__dirname, "../../goldens/models");

describe("headers of the golden models", () => {
  before(startParser);

  for (const file of readdirSync(models).filter((name) => name.endsWith(".py"))) {
    it(file, () => {
      const { setup, diagnostics, entries } = readHeader(
        parseModule(readFileSync(path.join(models, file), "utf8")),
      );
      assert.deepEqual(
        diagnostics.map(({ message }) => render(message, "en")),
        [],
      );
      assert.ok(entries.length > 0);
      const keyOf = (key: string | undefined): string =>
        ({ input: "inputs", target: "targets" })[key ?? ""] ?? key ?? "";
      assert.deepEqual(new Set(Object.keys(setup)), new Set(entries.map(({ key }) => keyOf(key))));
    });
  }
});
