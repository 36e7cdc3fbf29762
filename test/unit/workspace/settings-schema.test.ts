import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import Ajv from "ajv";
import { settingsWords } from "../../../server/src/analysis/project-settings";
import { readSettings, settingsKeys } from "../../../server/src/workspace/settings";
import { parse } from "./toml-json";

const schema = JSON.parse(
  readFileSync(path.join(__dirname, "../../../schemas/vramlint.schema.json"), "utf8"),
) as { properties: Record<string, unknown>; $defs: { selector: { enum: string[] } } };

describe("the schema of settings files", () => {
  const validate = new Ajv({ strict: false }).compile(schema);

  it("knows the keys and names that the reader knows", () => {
    assert.deepEqual(Object.keys(schema.properties).sort(), [...settingsKeys].sort());
    assert.deepEqual([...schema.$defs.selector.enum].sort(), [...settingsWords.selectors].sort());
  });

  for (const page of ["configuration.md", "configuration.zh-cn.md"]) {
    it(`and docs/${page} agree`, () => {
      const text = readFileSync(path.join(__dirname, "../../../docs", page), "utf8");
      const example = /```toml\n([^]*?)```/.exec(text)?.[1] ?? "";
      const settings = readSettings(example, "whole", { file: "/p/x.toml", folder: "/p" }, settingsWords);
      assert.deepEqual(settings?.problems, []);
      assert.ok(validate(parse(example)));
      const documented = [...text.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, key]) => key);
      assert.deepEqual(documented, settingsKeys);
    });
  }

  const texts = [
    "",
    'select = ["graph", "all", "cat-in-loop"]\nignore = []\n',
    'select = "graph"\n',
    'select = ["no-such-rule"]\n',
    'levels = { all = "warning", cat-in-loop = "off" }\n',
    'levels = { all = "loud" }\n',
    'levels = { nonsense = "off" }\n',
    'levels = "off"\n',
    'exclude = ["a", "b/**"]\n',
    'exclude = ["!a"]\n',
    'exclude = ["../a"]\n',
    'exclude = [""]\n',
    "exclude = [1]\n",
    '[per-file-ignores]\n"tests/**" = ["all"]\n',
    '[per-file-ignores]\n"../tests" = ["all"]\n',
    '[per-file-ignores]\n"tests/**" = "all"\n',
    'device = "rtx-4090"\n',
    'device = "24GiB"\n',
    "device = 24\n",
    'budget = "6.5 GiB"\n',
    'budget = "6.5"\n',
    "budget = 6\n",
    'language = "zh-cn"\n',
    'language = "fr"\n',
    "selct = []\n",
  ];
  for (const text of texts) {
    it(`judges ${JSON.stringify(text)} as the reader does`, () => {
      const settings = readSettings(text, "whole", { file: "/p/x.toml", folder: "/p" }, settingsWords);
      assert.equal(validate(parse(text)), settings?.problems.length === 0);
    });
  }
});
