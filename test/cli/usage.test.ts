import assert from "node:assert/strict";
import { version } from "../../package.json";
import { catalogue } from "../../server/src/analysis";
import { vramlint } from "./run";

describe("the command line's use", () => {
  it("prints its version", async () => {
    assert.deepEqual(await vramlint(["--version"]), { code: 0, stdout: `${version}\n`, stderr: "" });
  });

  it("has help in both languages", async () => {
    for (const command of ["check", "estimate", "rules", "rule"]) {
      const english = await vramlint([command, "--help"]);
      const chinese = await vramlint([command, "--help", "--lang=zh-cn"]);
      assert.equal(english.code, 0);
      assert.match(english.stdout, /^Usage: vramlint /);
      assert.match(chinese.stdout, /^用法： vramlint /);
      assert.doesNotMatch(english.stdout, /\p{Script=Han}/u);
      // Every line that describes something has Chinese in it.
      for (const line of chinese.stdout.split("\n")) {
        if (/^ {2}(?:-|\w+ {2,})/.test(line)) assert.match(line, /\p{Script=Han}/u, line);
      }
    }
    const program = await vramlint(["--lang", "zh-cn", "--help"]);
    assert.match(program.stdout, /退出码/);
    assert.match((await vramlint(["help", "check"])).stdout, /--stdin-filename/);
  });

  it("prints help on standard error when told nothing", async () => {
    const { code, stdout, stderr } = await vramlint([]);
    assert.equal(code, 2);
    assert.equal(stdout, "");
    assert.match(stderr, /^Usage:/);
  });

  const mistakes: readonly [argv: string[], english: RegExp, chinese: RegExp][] = [
    [["chekc"], /no command chekc\. Did you mean check\?/, /没有命令 chekc。您是否想用 check/],
    [["check", "--formt", "json"], /no option --formt\. Did you mean --format\?/, /没有选项 --formt/],
    [["check", "--format", "xml"], /--format cannot be xml; choose text, json/, /--format 不能是 xml/],
    [["check", "--format", "sarfi"], /cannot be sarfi; .* Did you mean sarif\?/, /您是否想用 sarif/],
    [["check", "--fail-on", "warn"], /--fail-on cannot be warn; choose error, warning/, /--fail-on 不能是/],
    [["check", "--basline", "x"], /no option --basline\. Did you mean --baseline\?/, /没有选项 --basline/],
    [["check", "--unsafe-fix"], /Did you mean --unsafe-fixes\?/, /您是否想用 --unsafe-fixes/],
    [["estimate", "a.py", "--bugdet", "1GiB"], /Did you mean --budget\?/, /您是否想用 --budget/],
    [["check", "--format"], /--format <format> needs a value/, /需要一个值/],
    [["check", "--lang", "tlh"], /--lang cannot be tlh; choose auto, en, zh-cn/, /--lang 不能是 tlh/],
    [["estimate"], /FILE is missing/, /缺少参数 FILE/],
    [["estimate", "a.py", "b.py"], /estimate takes one argument, not 2/, /estimate 需要 1 个参数/],
    [["rule"], /NAME is missing/, /缺少参数 NAME/],
    [
      ["rule", "budget-exceded"],
      /no rule budget-exceded\. Did you mean budget-exceeded\?/,
      /没有名为 budget-exceded/,
    ],
    [["rule", "../rule"], /no rule \.\.\/rule/, /没有名为/],
    [["rules", "x\u001b[2J"], /rules takes no arguments, not 1/, /rules 需要 0 个参数/],
    [["check", "--x\u001b[2J\n"], /no option --x\\x1b\[2J\\x0a/, /没有选项/],
  ];
  for (const [argv, english, chinese] of mistakes) {
    it(`refuses ${JSON.stringify(argv)}`, async () => {
      const result = await vramlint(argv);
      assert.equal(result.code, 2);
      assert.equal(result.stdout, "");
      assert.match(result.stderr, english);
      assert.match(result.stderr, /^vramlint: /);
      const translated = await vramlint(argv, { env: { LANG: "zh_CN.UTF-8" } });
      assert.equal(translated.code, 2);
      assert.match(translated.stderr, chinese);
    });
  }

  it("lists every rule with its level and summary", async () => {
    const { code, stdout } = await vramlint(["rules"]);
    assert.equal(code, 0);
    for (const { name, level, summary } of catalogue) {
      const line = stdout.split("\n").find((candidate) => candidate.trim().startsWith(`${name} `));
      assert.ok(line?.includes(level) && line.includes(summary.en), name);
    }
    const json = JSON.parse((await vramlint(["rules", "--format", "json", "--lang", "zh-cn"])).stdout) as {
      rules: { name: string; summary: string }[];
    };
    assert.deepEqual(
      json.rules.map(({ name, summary }) => [name, summary]),
      catalogue.map(({ name, summary }) => [name, summary["zh-cn"]]),
    );
  });

  it("prints the page of every rule in both languages", async () => {
    for (const { name } of catalogue) {
      for (const language of ["en", "zh-cn"]) {
        const { code, stdout, stderr } = await vramlint(["rule", name, "--lang", language]);
        assert.equal(code, 0, stderr);
        assert.ok(stdout.startsWith(`# ${name}\n`), name);
        assert.equal(/\p{Script=Han}/u.test(stdout), language === "zh-cn", name);
      }
    }
  });
});
