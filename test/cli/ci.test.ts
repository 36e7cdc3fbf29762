/** The pages about CI, the action and the hooks: what they tell people to write is run here, with the built program. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { Repository } from "./repository";
import { clean, flawed } from "./run";
import { asSarif } from "./sarif-schema";

const root = path.join(__dirname, "../..");
const program = path.join(root, "dist/cli.js");
const pages = path.join(root, "docs/ci");
const pageNames = readdirSync(pages).filter((name) => name.endsWith(".md"));

interface Block {
  readonly language: string;
  readonly text: string;
}

function blocksOf(page: string): Block[] {
  const text = readFileSync(path.join(pages, page), "utf8");
  return [...text.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].map(([, language = "", inner = ""]) => ({
    language,
    text: inner,
  }));
}

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, string>>;
}

interface Hook {
  readonly id: string;
  readonly entry: string;
  readonly language: string;
  readonly args?: readonly string[];
}

/** The steps of a GitHub workflow. */
const stepsOf = (workflow: { jobs?: Record<string, { steps?: Step[] }> }): Step[] =>
  Object.values(workflow.jobs ?? {}).flatMap(({ steps }) => steps ?? []);

/** The script lines of a GitLab configuration. */
const scriptsOf = (pipeline: Record<string, { script?: string[] }>): string[] =>
  Object.values(pipeline).flatMap(({ script }) => (Array.isArray(script) ? script : []));

const action = parse(readFileSync(path.join(root, "action.yml"), "utf8")) as {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>;
  readonly runs: {
    readonly steps: readonly (Step & { readonly env?: Readonly<Record<string, string>> })[];
  };
};
const hooks = parse(readFileSync(path.join(root, ".pre-commit-hooks.yaml"), "utf8")) as readonly Hook[];

describe("CI", function () {
  let repository: Repository;

  before(function () {
    if (!existsSync(program)) this.skip();
  });

  /** A branch with an old and a new finding, a baseline with the old one, and `vramlint` on the path. */
  beforeEach(() => {
    repository = new Repository({ "train.py": flawed, "clean.py": clean, ".gitignore": "bin/\nremote/\n" });
    mkdirSync(repository.join("bin"));
    writeFileSync(
      repository.join("bin/vramlint"),
      `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`,
    );
    chmodSync(repository.join("bin/vramlint"), 0o755);
    run("vramlint check --baseline vramlint-baseline.json --write-baseline");
    repository.commit("baseline");
    repository.git("clone", "--quiet", "--bare", ".", "remote");
    repository.git("remote", "add", "origin", "./remote");
    repository.git("fetch", "--quiet", "origin");
    repository.git("checkout", "--quiet", "-b", "mine");
    repository.write("new file.py", flawed);
    repository.commit("mine");
  });
  afterEach(() => repository.remove());

  interface Ran {
    readonly code: number | null;
    readonly stdout: string;
    readonly stderr: string;
  }

  /** As a CI system runs a script. */
  function run(script: string, env: Readonly<Record<string, string>> = {}): Ran {
    const { status, stdout, stderr } = spawnSync(
      "bash",
      ["--noprofile", "--norc", "-eo", "pipefail", "-c", script],
      {
        cwd: repository.path,
        encoding: "utf8",
        env: { HOME: repository.path, PATH: `${repository.join("bin")}:${process.env["PATH"]}`, ...env },
      },
    );
    return { code: status, stdout, stderr };
  }

  /** Runs the check of the action with the inputs of an example. */
  function runAction(inputs: Readonly<Record<string, string>>): Ran {
    const step = action.runs.steps.find(({ env }) => env?.["VRAMLINT"] !== undefined);
    const env = Object.entries(step?.env ?? {}).map(([name, expression]): [string, string] => {
      const input = /^\$\{\{ inputs\.([\w-]+) \}\}$/.exec(expression)?.[1];
      if (input === undefined) return [name, program];
      assert.ok(input in action.inputs, input);
      return [name, inputs[input] ?? action.inputs[input]?.default ?? ""];
    });
    for (const name of Object.keys(inputs)) assert.ok(name in action.inputs, name);
    return run(step?.run ?? "false", Object.fromEntries(env));
  }

  it("has each page in both languages, with the same examples", () => {
    const english = pageNames.filter((name) => !name.endsWith(".zh-cn.md"));
    assert.deepEqual(english.sort(), ["github.md", "gitlab.md", "other.md", "pre-commit.md"]);
    for (const name of english) {
      const twin = name.replace(".md", ".zh-cn.md");
      assert.deepEqual(blocksOf(twin), blocksOf(name), name);
      assert.match(readFileSync(path.join(pages, twin), "utf8"), /\p{Script=Han}/u);
    }
  });

  it("has no dead links in its pages", () => {
    for (const name of pageNames) {
      const text = readFileSync(path.join(pages, name), "utf8");
      for (const [, target = ""] of text.matchAll(/\]\((?!https:)([^)]+)\)/g)) {
        const [file = "", anchor] = target.split("#");
        const titles = [...readFileSync(path.join(pages, file), "utf8").matchAll(/^## (.*)$/gm)];
        const anchors = titles.map(([, title = ""]) =>
          title.toLowerCase().replaceAll(" ", "-").replace(/[，,]/g, ""),
        );
        assert.ok(anchor === undefined || anchors.includes(anchor), `${name}: ${target}`);
      }
    }
  });

  it("runs the shell examples of the page for any system", () => {
    const scripts = blocksOf("other.md").filter(({ language }) => language === "sh");
    assert.equal(scripts.length, 5);
    for (const { text } of scripts) {
      const { code, stdout, stderr } = run(text);
      assert.equal(stderr, "", text);
      assert.equal(code, 0, text);
      assert.match(stdout, /\d files?\.|\d new findings?|Nothing new/, text);
    }
  });

  it("runs Jenkins' steps", () => {
    const [jenkins] = blocksOf("other.md").filter(({ language }) => language === "groovy");
    const commands = [...(jenkins?.text.matchAll(/\bsh '(.*)'/g) ?? [])].map(([, command = ""]) => command);
    const [install, check, ...more] = commands;
    assert.match(install ?? "", /^npm install --global --install-links git\+https:/);
    assert.deepEqual(more, []);
    assert.equal(run(check ?? "false").code, 1);
    const report = readFileSync(repository.join("vramlint.xml"), "utf8");
    assert.match(report, /<testsuites name="vramlint" tests="4" failures="2" errors="0">/);
  });

  it("runs the workflows of GitHub", () => {
    const workflows = blocksOf("github.md").map(({ text }) => parse(text) as Parameters<typeof stepsOf>[0]);
    const ours = workflows.map((workflow) =>
      stepsOf(workflow).filter(
        ({ uses, run: script }) => /vramlint@/.test(uses ?? "") || /^vramlint /.test(script ?? ""),
      ),
    );
    assert.deepEqual(
      ours.map((steps) => steps.length),
      [1, 1, 1],
    );
    const [annotations, scanning, plain] = ours.map(([step]) => step);

    const annotated = runAction(annotations?.with ?? {});
    assert.equal(annotated.code, 1, annotated.stderr);
    assert.match(annotated.stdout, /^::warning title=vramlint \(budget-invalid\),file=new file\.py,line=1,/);
    assert.doesNotMatch(annotated.stdout, /train\.py/);

    const scanned = runAction(scanning?.with ?? {});
    assert.equal(scanned.code, 0, scanned.stderr);
    const log = asSarif(readFileSync(repository.join(scanning?.with?.["output"] ?? ""), "utf8"));
    assert.equal(log.runs[0]?.results?.length, 4);

    const checked = run(plain?.run ?? "false");
    assert.equal(checked.code, 1, checked.stderr);
    assert.match(checked.stdout, /^::warning .*file=new file\.py/);
  });

  it("hands every input of the action on, and takes none for a command", () => {
    const hostile = "$(touch pwned) `touch pwned`; touch pwned \"' \\";
    for (const input of Object.keys(action.inputs).filter((name) => name !== "output")) {
      const { code } = runAction({ [input]: hostile });
      assert.equal(code, 2, input);
      assert.ok(!existsSync(repository.join("pwned")), input);
    }
    repository.write("--fix", "");
    const { stdout } = runAction({
      paths: "train.py\nnew file.py\n",
      baseline: "vramlint-baseline.json",
      format: "text",
      "fail-on": "error",
      arguments: "--ignore\nbudget\n",
    });
    assert.match(stdout, /^new file\.py:4:36: /);
    assert.match(stdout, /1 new finding in 2 files.*1 finding is in the baseline\.\n$/);
  });

  it("runs the pipelines of GitLab", () => {
    const [quality, gate] = blocksOf("gitlab.md").map(({ text }) => {
      const scripts = scriptsOf(parse(text) as Parameters<typeof scriptsOf>[0]);
      assert.match(scripts[0] ?? "", /^npm install --global --install-links git\+https:/);
      return scripts.slice(1).join("\n");
    });
    assert.equal(run(quality ?? "false").code, 0);
    const issues = JSON.parse(
      readFileSync(repository.join("gl-code-quality-report.json"), "utf8"),
    ) as object[];
    assert.equal(issues.length, 4);
    const gated = run(gate ?? "false");
    assert.equal(gated.code, 1, gated.stderr);
    assert.match(gated.stdout, /^new file\.py:1:9: warning/);
    assert.match(gated.stdout, /2 findings in 1 file/);
  });

  it("runs the hooks of pre-commit as it does: entry, arguments, files", () => {
    const configurations = blocksOf("pre-commit.md").map(
      ({ text }) => parse(text) as { readonly repos: readonly { readonly hooks: readonly Hook[] }[] },
    );
    const used = configurations.flatMap(({ repos }) => repos.flatMap((entry) => entry.hooks));
    assert.equal(used.length, 3);
    const quoted = (argument: string): string => `'${argument}'`;
    const results = used.map(({ id, args = [] }) => {
      const hook = hooks.find((candidate) => candidate.id === id);
      assert.equal(hook?.language, "node", id);
      return run([hook.entry, ...args.map(quoted), "train.py", "clean.py"].join(" "));
    });
    assert.deepEqual(
      results.map(({ code }) => code),
      [1, 0, 1],
    );
    for (const { stderr } of results) assert.equal(stderr, "");
    assert.match(results[2]?.stdout ?? "", /1 fix applied\./);
  });
});
