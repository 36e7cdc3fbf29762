import assert from "node:assert/strict";
import { settingsWords } from "../../../server/src/analysis/project-settings";
import { render } from "../../../server/src/messages/message";
import { ignoredIn, isExcluded, readSettings } from "../../../server/src/workspace/settings";
import type { FileSettings, SettingsPlace } from "../../../server/src/workspace/settings";

function read(text: string, place: SettingsPlace = "whole"): FileSettings {
  const settings = readSettings(text, place, { file: "/p/vramlint.toml", folder: "/p" }, settingsWords);
  assert.ok(settings, "the text has settings");
  return settings;
}

/** Each problem as `marked text: message`. */
function problemsOf(settings: FileSettings, language: "en" | "zh-cn" = "en"): string[] {
  return settings.problems.map(
    ({ span, message }) => `${settings.source.slice(span)}: ${render(message, language)}`,
  );
}

describe("settings", () => {
  it("reads every key", () => {
    const settings = read(`
select = ["graph", "Empty-Cache-In-Loop"]
ignore = ["deprecated-amp"]
exclude = ["build", "/scripts/*.py"]
device = "RTX 4090"
budget = "20 GiB"
language = "zh-cn"

[levels]
all = "warning"
loss-graph-retained = "error"
cat-in-loop = "off"

[per-file-ignores]
"tests/**" = ["all"]
"demo.py" = ["logged-tensor", "cat-in-loop"]
`);
    assert.deepEqual(problemsOf(settings), []);
    assert.deepEqual(settings.select, ["graph", "empty-cache-in-loop"]);
    assert.deepEqual(settings.ignore, ["deprecated-amp"]);
    assert.deepEqual(settings.levels, {
      all: "warning",
      "loss-graph-retained": "error",
      "cat-in-loop": "off",
    });
    assert.equal(settings.device?.card, "rtx-4090");
    assert.ok(settings.device.bytes > 22 * 1024 ** 3);
    assert.equal(settings.budget, 20 * 1024 ** 3);
    assert.equal(settings.language, "zh-cn");
    assert.ok(isExcluded(settings, "/p/a/build/x.py"));
    assert.ok(isExcluded(settings, "/p/scripts/x.py"));
    assert.ok(!isExcluded(settings, "/p/a/scripts/x.py"));
    assert.ok(!isExcluded(settings, "/elsewhere/build/x.py"));
    assert.deepEqual(ignoredIn(settings, "/p/tests/a/b.py"), ["all"]);
    assert.deepEqual(ignoredIn(settings, "/p/a/demo.py"), ["logged-tensor", "cat-in-loop"]);
    assert.deepEqual(ignoredIn(settings, "/p/train.py"), []);
  });

  it("reads the table of a pyproject.toml, however it is written", () => {
    const forms = [
      `[project]\nname = "x"\n[tool.vramlint]\nignore = ["cat-in-loop"]\n[tool.vramlint.levels]\nall = "hint"\n`,
      `[tool]\nvramlint.ignore = ["cat-in-loop"]\nvramlint.levels.all = "hint"\n`,
      `tool.vramlint = { ignore = ["cat-in-loop"], levels = { all = "hint" } }\n`,
      `\ufeff["tool"."vramlint"]\r\nignore = [\r\n  'cat-in-loop', # reason\r\n]\r\nlevels."all" = 'hint'\r\n`,
    ];
    for (const form of forms) {
      const settings = read(form, "tool.vramlint");
      assert.deepEqual(problemsOf(settings), [], form);
      assert.deepEqual(settings.ignore, ["cat-in-loop"], form);
      assert.deepEqual(settings.levels, { all: "hint" }, form);
    }
  });

  it("leaves a pyproject.toml of other tools alone", () => {
    const where = { file: "/p/pyproject.toml", folder: "/p" };
    for (const text of [
      "",
      "[tool.ruff]\nselect = []\n",
      'dependencies = ["vramlint"]\n',
      "[tool.ruff\n",
      'x = ["vramlint",\n',
    ]) {
      assert.equal(readSettings(text, "tool.vramlint", where, settingsWords), undefined, text);
    }
  });

  it("reports mistakes on their span with what was probably meant; the rest counts", () => {
    const settings = read(`
selct = ["graph"]
severity = 1
zzz = 1
ignore = ["deprecated_amp", "cat-in-lop", 3, "logged-tensor"]
exclude = ["", "!a", "../b", "[", "a[b", "{a,b", "(a", "a]", "[z-a]", "c", "[[]x"]
device = "rtx-409"
budget = "20"
language = "chinese"
levels = { logged-tensor = "info", nonsense = "off", cat-in-loop = "error" }
per-file-ignores = [1]
`);
    assert.deepEqual(problemsOf(settings), [
      "selct: There is no setting `selct`; `select` is probably meant.",
      "severity: There is no setting `severity`; `levels` is probably meant.",
      "zzz: There is no setting `zzz`; known are select, ignore, levels, exclude, per-file-ignores, device, budget, language.",
      '"deprecated_amp": There is no rule or group `deprecated_amp`. `deprecated-amp` is probably meant.',
      '"cat-in-lop": There is no rule or group `cat-in-lop`. `cat-in-loop` is probably meant.',
      '3: `ignore` must be a list of texts in quotes, such as ["…", "…"].',
      ...['""', '"!a"', '"../b"', '"["', '"a[b"', '"{a,b"', '"(a"', '"a]"', '"[z-a]"'].map(
        (shown) =>
          `${shown}: \`${shown.slice(1, -1)}\` is no pattern for paths below the folder of this file: it must not be empty, begin with \`!\`, lead out of the folder or leave a bracket open (a bracket that is part of a name is written \`[[]\`).`,
      ),
      '"rtx-409": `rtx-409` is neither a size such as `24GiB` nor a known card. `rtx-4090` is probably meant.',
      '"20": `20` is no size; write it with its unit, such as `6.5GiB`.',
      '"chinese": `chinese` is not possible for `language`: it can be auto, en, zh-cn. `zh-cn` is probably meant.',
      '"info": `info` is not possible for `levels.logged-tensor`: it can be error, warning, information, hint, off. `information` is probably meant.',
      "nonsense: There is no rule or group `nonsense`.",
      "[1]: `per-file-ignores` must be a table.",
    ]);
    assert.deepEqual(settings.ignore, ["logged-tensor"]);
    assert.deepEqual(settings.levels, { "cat-in-loop": "error" });
    assert.ok(isExcluded(settings, "/p/c"));
    for (const text of problemsOf(settings, "zh-cn")) assert.match(text, /\p{Script=Han}/u);
  });

  it("says where a text is no TOML", () => {
    for (const [text, line] of [
      ["select = [\n", 1],
      ["ignore = []\nignore = []\n", 1],
      ['\n\nbudget = "4GiB\n', 2],
    ] as const) {
      const [problem, ...others] = read(text).problems;
      assert.ok(problem !== undefined && others.length === 0, text);
      assert.match(render(problem.message, "en"), /^This is not valid TOML: /);
      assert.equal(read(text).source.lineOf(problem.span.start), line, text);
    }
    const broken = read("[tool.vramlint]\nselect = [\n", "tool.vramlint");
    assert.equal(broken.problems.length, 1);
  });

  it("has spans right behind characters outside the first plane and after CRLF", () => {
    const settings = read(`# 😀😀\r\nx = "😀"\r\nselct = []\r\n`);
    assert.deepEqual(
      settings.problems.map(({ span }) => settings.source.slice(span)),
      ["x", "selct"],
    );
  });

  it("takes keys that JavaScript objects are born with for what they are", () => {
    const settings = read('constructor = 1\n"__proto__" = 2\n[levels]\ntoString = "off"\n');
    assert.equal(settings.problems.length, 3);
    assert.deepEqual(settings.levels, {});
  });

  it("survives texts nested deeply", () => {
    const settings = read(`select = ${"[".repeat(50_000)}\n`);
    assert.equal(settings.problems.length, 1);
  });

  it("reports tables that are none", () => {
    assert.equal(read("[[levels]]\nall = 'off'\n").problems.length, 1);
    assert.equal(read("tool.vramlint = 3\n", "tool.vramlint").problems.length, 1);
    assert.equal(read("[[tool.vramlint]]\n", "tool.vramlint").problems.length, 1);
    assert.deepEqual(problemsOf(read('select = "graph"\n')), [
      '"graph": `select` must be a list of texts in quotes, such as ["…", "…"].',
    ]);
  });
});
