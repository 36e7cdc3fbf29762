/** What the READMEs and pages say must be there. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { headerKeys } from "../../../server/src/directives/keys";
import { rules } from "../../../server/src/rules/registry";

const root = path.join(__dirname, "../../..");

function pages(): string[] {
  const below = (folder: string) =>
    readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(".md"))
      .map((entry) => path.join(entry.parentPath, entry.name));
  const top = readdirSync(root).filter((name) => name.endsWith(".md"));
  return [...top.map((name) => path.join(root, name)), ...below("docs"), ...below("server/src")];
}

/** Pages for those who change vramlint; what they read of it is English. */
const developerPages = new Set(["docs/architecture.md", "docs/dependencies.md"]);

/** The English pages at the top and in `docs/` that users read. */
function userPages(): string[] {
  return pages().filter((page) => {
    const name = path.relative(root, page).replaceAll(path.sep, "/");
    return !name.startsWith("server/") && !name.endsWith(".zh-cn.md") && !developerPages.has(name);
  });
}

function twinOf(page: string): string {
  return page.replace(/(\.zh-cn)?\.md$/, ".zh-cn.md");
}

/** The files that a page links to. */
function linksOf(page: string): string[] {
  return [...readFileSync(page, "utf8").matchAll(/\]\(([^)\s#]+)[^)]*\)/g)]
    .filter(([, target = ""]) => !/^(https?|mailto):/.test(target))
    .map(([, target = ""]) => path.resolve(path.dirname(page), target));
}

/** What links to a page's headings may say behind `#`. */
function anchorsOf(page: string): string[] {
  return [...readFileSync(page, "utf8").matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** What a translation leaves as it is: depth of headings, fences, pictures, code and figures of each table's row. */
function outlineOf(page: string): string[] {
  const outline: string[] = [];
  for (const line of readFileSync(page, "utf8").split("\n")) {
    const [start] = /^(#+ |```\w*|!\[|- |\d+\. )/.exec(line) ?? [];
    if (start !== undefined) outline.push(start);
    if (!line.startsWith("|")) continue;
    const cells = line.split(/(?<!\\)\|/).length;
    const figures = [...line.matchAll(/`[^`]+`|\d[\d.,]*/g)]
      .map(([text]) => text.replaceAll(/\[.*?\]/g, "[]"))
      .sort();
    outline.push(`|${cells}|${figures.join(" ")}`);
  }
  return outline;
}

describe("documentation", () => {
  it("has no link that leads nowhere", () => {
    for (const page of pages()) {
      for (const [, target = ""] of readFileSync(page, "utf8").matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^(https?:|#|mailto:)/.test(target)) continue;
        const file = path.resolve(path.dirname(page), target.replace(/#.*$/, ""));
        assert.ok(existsSync(file), `${path.relative(root, page)} links to ${target}`);
        const [, anchor] = /\.md#(.+)$/.exec(target) ?? [];
        if (anchor === undefined) continue;
        assert.ok(anchorsOf(file).includes(anchor), `${path.relative(root, page)} links to ${target}`);
      }
    }
  });

  it("has a Chinese twin for what users read", () => {
    for (const english of userPages()) {
      const chinese = twinOf(english);
      assert.ok(existsSync(chinese), `${path.relative(root, english)} has no twin`);
      assert.ok(
        linksOf(english).includes(chinese),
        `${path.relative(root, english)} lacks a link to its twin`,
      );
      assert.ok(
        linksOf(chinese).includes(english),
        `${path.relative(root, chinese)} lacks a link to its twin`,
      );
    }
  });

  it("leads readers of Chinese to Chinese pages", () => {
    for (const page of pages().filter((name) => name.endsWith(".zh-cn.md"))) {
      for (const target of linksOf(page)) {
        if (!target.endsWith(".md") || target.endsWith(".zh-cn.md") || twinOf(target) === page) continue;
        assert.ok(
          !existsSync(twinOf(target)),
          `${path.relative(root, page)} links to ${path.relative(root, target)}`,
        );
      }
    }
  });

  it("has the same headings, tables and figures in both languages", () => {
    for (const english of userPages()) {
      assert.deepEqual(outlineOf(twinOf(english)), outlineOf(english), path.relative(root, english));
    }
  });

  it("explains every key of the header in both languages", () => {
    for (const page of ["docs/directives.md", "docs/directives.zh-cn.md"]) {
      const text = readFileSync(path.join(root, page), "utf8");
      for (const key of headerKeys) assert.ok(text.includes(`\`${key}\``), `${page} lacks ${key}`);
    }
  });

  it("names only rules that exist in the READMEs", () => {
    const names = new Set(rules.map(({ name }) => name));
    for (const page of ["README.md", "README.zh-cn.md"]) {
      const text = readFileSync(path.join(root, page), "utf8");
      for (const [, rule = ""] of text.matchAll(/server\/src\/rules\/([a-z0-9-]+)\//g)) {
        assert.ok(names.has(rule), `${page} names ${rule}`);
      }
    }
  });

  it("explains every setting and every command of the extension in both languages", () => {
    const read = (file: string) => JSON.parse(readFileSync(path.join(root, file), "utf8")) as unknown;
    const { contributes } = read("package.json") as {
      contributes: {
        configuration: { properties: Record<string, unknown> }[];
        commands: { title: string }[];
      };
    };
    const settings = contributes.configuration.flatMap(({ properties }) => Object.keys(properties));
    for (const [page, texts] of [
      ["docs/vscode.md", "package.nls.json"],
      ["docs/vscode.zh-cn.md", "package.nls.zh-cn.json"],
    ] as const) {
      const text = readFileSync(path.join(root, page), "utf8");
      const titles = read(texts) as Readonly<Record<string, string>>;
      for (const setting of settings) {
        const last = setting.slice(setting.lastIndexOf("."));
        assert.ok(
          text.includes(`\`${setting}\``) || text.includes(`\`${last}\``),
          `${page} lacks ${setting}`,
        );
      }
      for (const { title } of contributes.commands) {
        const shown = titles[title.replaceAll("%", "")] ?? title;
        assert.ok(text.includes(shown), `${page} lacks ${shown}`);
      }
    }
  });

  it("has every file that the walkthrough and the manifest name", () => {
    for (const file of ["package.nls.json", "package.nls.zh-cn.json"]) {
      const texts = JSON.parse(readFileSync(path.join(root, file), "utf8")) as Readonly<
        Record<string, string>
      >;
      for (const [key, value] of Object.entries(texts)) {
        if (/^walkthrough\..*\.(picture|page)$/.test(key))
          assert.ok(existsSync(path.join(root, value)), value);
      }
    }
    assert.ok(existsSync(path.join(root, "icon.png")));
  });

  it("names only npm scripts that exist", () => {
    const manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    for (const page of pages()) {
      for (const [, script = ""] of readFileSync(page, "utf8").matchAll(/`?npm run ([a-z-]+)/g)) {
        assert.ok(script in manifest.scripts, `${path.relative(root, page)} names npm run ${script}`);
      }
    }
  });
});
