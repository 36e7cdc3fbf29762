/** The reports for other programs: their forms, and that nothing in a file can break out of them. */
import assert from "node:assert/strict";
import { readFileSync, renameSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { DOMParser } from "@xmldom/xmldom";
import type { Log, Result } from "sarif";
import { catalogue } from "../../server/src/analysis";
import { applyEdits } from "../../server/src/rules/fix";
import { Source } from "../../server/src/python/source";
import { fixturesFolder } from "../support/fixtures";
import { TemporaryFolder } from "../unit/workspace/folder";
import { clean, flawed, repaired, vramlint } from "./run";
import { asSarif } from "./sarif-schema";

/** A key no header has, made of what every format treats specially. */
const hostileKey = `a<b>&"'%0A::error::x>\u001b7\u202e\ufffe`;
const hostile = `# vram: ${hostileKey}=1\nimport torch\n`;
const hostileNames = [
  "a b,c:d;%0A&<x>\"'.py",
  "训练 é.py",
  "new\nline\r.py",
  "::error title=x::y.py",
  "-\u001b[2J#?.py",
];

describe("reports for other programs", () => {
  let folder: TemporaryFolder;

  beforeEach(() => (folder = new TemporaryFolder({ ".git/": "" })));
  afterEach(() => folder.remove());

  const report = async (
    format: string,
    argv: readonly string[] = [],
    cwd = folder.path,
  ): Promise<{ code: number; stdout: string }> => vramlint(["check", "--format", format, ...argv], { cwd });

  /** `src/` below the top of a repository, with everything that a report has to live through. */
  function writeHostile(): void {
    folder.write("a.py", flawed);
    folder.write("clean.py", clean);
    for (const name of hostileNames) folder.write(`src/${name}`, hostile);
  }

  describe("sarif", () => {
    const sarif = async (argv: readonly string[] = [], cwd = folder.path): Promise<Log> =>
      asSarif((await report("sarif", argv, cwd)).stdout);
    const resultsOf = (log: Log): Result[] => log.runs[0]?.results ?? [];
    const addressOf = (result: Result | undefined) =>
      result?.locations?.[0]?.physicalLocation?.artifactLocation;

    it("is what the schema asks for, empty or full of hostile names and messages", async () => {
      assert.deepEqual(resultsOf(await sarif()), []);
      writeHostile();
      const log = await sarif();
      assert.equal(resultsOf(log).length, 2 + hostileNames.length);
      assert.equal(log.runs[0]?.invocations?.[0]?.executionSuccessful, true);
      assert.equal(log.runs[0].columnKind, "utf16CodeUnits");
    });

    it("is valid for every rule's fixtures, in both languages", async () => {
      for (const language of ["en", "zh-cn"]) {
        const log = await sarif(["rules", "reported", "--lang", language], fixturesFolder);
        assert.ok(resultsOf(log).length > 100);
      }
    });

    it("names files relative to the top of the repository, by addresses that lead back to them", async () => {
      writeHostile();
      const [shallow, below] = [await sarif(["src"]), await sarif([], folder.join("src"))];
      const names = resultsOf(below).map((result) => {
        const { uri = "", uriBaseId } = addressOf(result) ?? {};
        assert.equal(uriBaseId, "%SRCROOT%");
        assert.doesNotMatch(uri, /^[a-z]+:|^\/|[\s<>"]/i);
        return decodeURIComponent(uri);
      });
      assert.deepEqual(names.sort(), hostileNames.map((name) => `src/${name}`).sort());
      assert.deepEqual(resultsOf(shallow).map(addressOf), resultsOf(below).map(addressOf));
    });

    it("gives files outside the repository whole addresses", async () => {
      const other = new TemporaryFolder({ "b.py": flawed });
      try {
        const [result] = resultsOf(await sarif([other.join("b.py")]));
        assert.deepEqual(addressOf(result), { uri: pathToFileURL(other.join("b.py")).href });
      } finally {
        other.remove();
      }
    });

    it("keeps fingerprints when lines move or are laid out anew, and tells equals apart", async () => {
      const name = "a.py";
      const loop = "for batch in loader:\n    torch.cuda.empty_cache()\n";
      folder.write(name, `import torch\n\ndef train(loader):\n    ${loop.replaceAll("\n", "\n    ")}\n`);
      const prints = async (): Promise<unknown[]> =>
        resultsOf(await sarif()).map(({ partialFingerprints }) => partialFingerprints?.["vramlint/v1"]);
      const before = await prints();
      assert.equal(before.length, 1);
      folder.write(
        name,
        `"""Text."""\nimport os\nimport torch\n\n\ndef train( loader ) :\n  for batch in (loader) :\n      torch.cuda.empty_cache(  )  # why\n`,
      );
      assert.deepEqual(await prints(), before);
      folder.write(
        name,
        `import torch\n\ndef train(loader):\n  ${loop.replaceAll("\n", "\n  ")}\n  ${loop.replaceAll("\n", "\n  ")}\n`,
      );
      const twice = await prints();
      assert.equal(twice.length, 2);
      assert.equal(twice[0], before[0]);
      assert.notEqual(twice[1], before[0]);
      folder.write(name, `import torch\n\ndef fit(loader):\n    ${loop.replaceAll("\n", "\n    ")}\n`);
      assert.notEqual((await prints())[0], before[0]);
    });

    it("lets no text of a file become a link", async () => {
      folder.write("a.py", "# vram: loss=[x](https://example.org)\nimport torch\n");
      const [result] = resultsOf(await sarif(["a.py"]));
      assert.ok(result?.message.text?.includes("\\[x](https://example.org)"), result?.message.text);
    });

    it("carries the rules with their whole pages", async () => {
      const log = await sarif(["rules"], fixturesFolder);
      const rules = log.runs[0]?.tool.driver.rules ?? [];
      assert.ok(rules.length > 5);
      for (const [index, rule] of rules.entries()) {
        const known = catalogue.find(({ name }) => name === rule.id);
        assert.equal(rule.shortDescription?.text, known?.summary.en);
        assert.ok(rule.help?.markdown?.startsWith(`# ${rule.id}\n`), rule.id);
        // An address of this machine would be dead wherever the report is read.
        assert.equal(rule.helpUri, undefined);
        for (const result of resultsOf(log)) {
          assert.equal(result.ruleIndex === index, result.ruleId === rule.id);
        }
      }
    });

    it("carries fixes that repair the file", async () => {
      folder.write("a.py", flawed.replaceAll("\n", "\r\n"));
      const text = readFileSync(folder.join("a.py"), "utf8");
      const source = new Source(text);
      const fixes = resultsOf(await sarif()).flatMap((result) => result.fixes ?? []);
      const safe = fixes.filter(({ properties }) => properties?.["safe"] === true);
      assert.equal(safe.length, 1);
      const offset = (line = 0, column = 0): number => source.lineStart(line - 1) + column - 1;
      const edits = (safe[0]?.artifactChanges[0]?.replacements ?? []).map(
        ({ deletedRegion: region, insertedContent }) => ({
          start: offset(region.startLine, region.startColumn),
          end: offset(region.endLine, region.endColumn),
          text: insertedContent?.text ?? "",
        }),
      );
      assert.equal(applyEdits(text, edits), repaired.replaceAll("\n", "\r\n"));
    });

    it("says what could not be checked", async () => {
      folder.write("nul.py", "\0");
      const log = await sarif(["nul.py", "missing.py"]);
      const [invocation] = log.runs[0]?.invocations ?? [];
      assert.equal(invocation?.executionSuccessful, false);
      const notes = invocation.toolExecutionNotifications ?? [];
      assert.deepEqual(
        notes.map(({ level }) => level),
        ["error", "error"],
      );
      assert.match(notes.map(({ message }) => message.text).join(), /missing\.py: .*nul\.py: /);
    });
  });

  describe("github", () => {
    it("writes a command a finding, at the file's place in the repository", async () => {
      folder.write("src/a.py", flawed);
      const { code, stdout } = await report("github", [], folder.join("src"));
      assert.equal(code, 1);
      assert.equal(
        stdout,
        "::warning title=vramlint (budget-invalid),file=src/a.py,line=1,endLine=1,col=9,endColumn=18::" +
          "budget-invalid: The header has no key `batch_size`; `batch` is probably meant.\n" +
          "::notice title=vramlint (suppression-unused),file=src/a.py,line=4,endLine=4,col=36,endColumn=54::" +
          "suppression-unused: This suppression hides nothing: there is no `loss-graph-retained` here.\n" +
          "2 findings in 1 file. 1 has a safe fix: --fix applies it.\n",
      );
    });

    it("lets no name and no message begin a command or a line of its own", async () => {
      writeHostile();
      const { stdout } = await report("github", ["src"]);
      const lines = stdout.trimEnd().split("\n");
      assert.equal(lines.length, hostileNames.length + 1);

      assert.doesNotMatch(stdout, /[\u001b\r]/);
      const files = lines.slice(0, -1).map((line) => {
        const [, properties = "", text = ""] = /^::warning ([^:]*)::(.*)$/.exec(line) ?? [];
        const pairs = properties
          .split(",")
          .map((pair) => [pair.replace(/=.*/, ""), pair.replace(/.*?=/, "")]);
        assert.deepEqual(
          pairs.map(([name]) => name),
          ["title", "file", "line", "endLine", "col", "endColumn"],
        );
        assert.ok(text.includes("a<b>&\"'%250A::error::x>"), text);
        return decodeURIComponent(pairs[1]?.[1]?.replaceAll(/%(?![0-9A-F]{2})/g, "%25") ?? "");
      });
      const expected = hostileNames.map((name) => `src/${name.replace("\u001b", "\\x1b")}`);
      assert.deepEqual(files.sort(), expected.sort());
    });
  });

  describe("gitlab", () => {
    interface Issue {
      readonly description: string;
      readonly check_name: string;
      readonly fingerprint: string;
      readonly severity: string;
      readonly location: { readonly path: string; readonly positions: { readonly begin: object } };
    }
    const issues = async (argv: readonly string[] = []): Promise<Issue[]> =>
      JSON.parse((await report("gitlab", argv)).stdout) as Issue[];

    it("has what GitLab requires of each issue", async () => {
      assert.deepEqual(await issues(), []);
      folder.write("src/a.py", flawed);
      const found = await issues();
      assert.deepEqual(
        found.map(({ fingerprint, ...rest }) => {
          assert.match(fingerprint, /^[0-9a-f]{32}$/);
          return rest;
        }),
        [
          {
            description: "The header has no key `batch_size`; `batch` is probably meant.",
            check_name: "budget-invalid",
            severity: "major",
            location: {
              path: "src/a.py",
              positions: { begin: { line: 1, column: 9 }, end: { line: 1, column: 19 } },
            },
          },
          {
            description: "This suppression hides nothing: there is no `loss-graph-retained` here.",
            check_name: "suppression-unused",
            severity: "minor",
            location: {
              path: "src/a.py",
              positions: { begin: { line: 4, column: 36 }, end: { line: 4, column: 55 } },
            },
          },
        ],
      );
    });

    it("gives every issue a fingerprint of its own that moved lines leave alone", async () => {
      folder.write("a.py", flawed.replace("x = ", "x = 1\nx = ") + flawed);
      folder.write("b.py", flawed);
      const before = (await issues()).map(({ fingerprint }) => fingerprint);
      assert.equal(new Set(before).size, before.length);
      folder.write("a.py", "\n\n" + readFileSync(folder.join("a.py"), "utf8"));
      assert.deepEqual(
        (await issues()).map(({ fingerprint }) => fingerprint),
        before,
      );
      renameSync(folder.join("b.py"), folder.join("c.py"));
      const moved = (await issues()).map(({ fingerprint }) => fingerprint);
      assert.ok(!moved.includes(before[before.length - 1] ?? ""));
    });

    it("keeps hostile names and messages as they are", async () => {
      writeHostile();
      const found = await issues(["src"]);
      assert.deepEqual(
        found.map(({ location }) => location.path).sort(),
        hostileNames.map((name) => `src/${name}`).sort(),
      );
    });
  });

  describe("junit", () => {
    const parse = (xml: string) => {
      const errors: string[] = [];
      const parser = new DOMParser({ onError: (_level, text) => errors.push(text) });
      const document = parser.parseFromString(xml, "application/xml");
      assert.deepEqual(errors, []);
      return document;
    };
    const namesOf = (xml: string, tag: string): string[] =>
      [...parse(xml).getElementsByTagName(tag)].map((element) => element.getAttribute("name") ?? "");

    it("has a suite a file and a case a finding", async () => {
      folder.write("a.py", flawed);
      folder.write("clean.py", clean);
      const { stdout } = await report("junit", ["--fail-on", "warning"]);
      assert.deepEqual(namesOf(stdout, "testsuite"), ["a.py", "clean.py"]);
      assert.deepEqual(namesOf(stdout, "testcase"), [
        "budget-invalid (1:9)",
        "suppression-unused (4:36)",
        "vramlint",
      ]);
      const document = parse(stdout);
      const root = document.documentElement;
      assert.deepEqual(
        ["tests", "failures", "errors"].map((name) => root?.getAttribute(name)),
        ["3", "1", "0"],
      );
      const [failure] = document.getElementsByTagName("failure");
      assert.equal(failure?.getAttribute("type"), "warning: budget-invalid");
      assert.match(failure.textContent ?? "", /^a\.py:1:9: warning\[budget-invalid\] The header/);
      assert.equal(document.getElementsByTagName("system-out").length, 1);
    });

    it("stays XML whatever names and messages hold", async () => {
      writeHostile();
      folder.write("src/nul.py", "\0");
      const { code, stdout } = await report("junit", ["src"]);
      assert.equal(code, 2);

      assert.doesNotMatch(stdout, /[\u001b\ufffe\r]/);
      const names = namesOf(stdout, "testsuite");
      assert.ok(names.includes("src/a b,c:d;%0A&<x>\"'.py"), names.join("\n"));
      assert.ok(names.includes("src/new\\x0aline\\x0d.py"));
      const [error] = parse(stdout).getElementsByTagName("error");
      assert.match(error?.getAttribute("message") ?? "", /nul\.py: contains a NUL byte/);
    });
  });
});
