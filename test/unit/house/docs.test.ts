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

describe("documentation", () => {
  it("has no link that leads nowhere", () => {
    for (const page of pages()) {
      for (const [, target = ""] of readFileSync(page, "utf8").matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^(https?:|#|mailto:)/.test(target)) continue;
        const file = path.resolve(path.dirname(page), target.replace(/#.*$/, ""));
        assert.ok(existsSync(file), `${path.relative(root, page)} links to ${target}`);
      }
    }
  });

  it("has a Chinese twin for what users read", () => {
    for (const page of ["README", "CHANGELOG", "docs/directives", "docs/rules", "docs/vscode"]) {
      assert.ok(existsSync(path.join(root, `${page}.md`)) && existsSync(path.join(root, `${page}.zh-cn.md`)));
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
