/** Every text a person reads exists in both languages, with the same placeholders; found by reading our sources. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { IntlMessageFormat } from "intl-messageformat";
import { languageFor, message, render } from "../../../server/src/messages/message";

const root = path.join(__dirname, "../../..");

interface Text {
  readonly place: string;
  readonly en: string;
  readonly chinese: string;
}

/** A string literal or a sum of them; undefined for anything computed. */
function literalText(node: ts.Expression): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isParenthesizedExpression(node)) return literalText(node.expression);
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return undefined;
  const [left, right] = [literalText(node.left), literalText(node.right)];
  return left === undefined || right === undefined ? undefined : left + right;
}

function textsIn(file: string): Text[] {
  const parsed = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
  const found: Text[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isObjectLiteralExpression(node)) {
      const values = new Map<string, ts.Expression>();
      for (const property of node.properties) {
        if (!ts.isPropertyAssignment(property)) continue;
        if (ts.isIdentifier(property.name) || ts.isStringLiteral(property.name)) {
          values.set(property.name.text, property.initializer);
        }
      }
      const [en, chinese] = [values.get("en"), values.get("zh-cn")];
      if (en && chinese) {
        const [english, translated] = [literalText(en), literalText(chinese)];
        const { line } = parsed.getLineAndCharacterOfPosition(node.getStart());
        const place = `${path.relative(root, file)}:${line + 1}`;
        if (english !== undefined && translated !== undefined) {
          found.push({ place, en: english, chinese: translated });
        }
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(parsed);
  return found;
}

function sourcesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => path.join(entry.parentPath, entry.name));
}

/** Names of the placeholders, plural and select arguments included. */
function placeholders(text: string, locale: string): string[] {
  const names = new Set<string>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) {
      value.forEach(visit);
      return;
    }
    if (typeof value !== "object" || value === null) return;
    const element = value as { type?: number; value?: unknown; options?: Record<string, { value: unknown }> };
    // 0 is literal text, 7 the `#` inside a plural.
    if (typeof element.value === "string" && element.type !== 0 && element.type !== 7)
      names.add(element.value);
    for (const option of Object.values(element.options ?? {})) visit(option.value);
  };
  visit(new IntlMessageFormat(text, locale, undefined, { ignoreTag: true }).getAst());
  return [...names].sort();
}

describe("messages", () => {
  const texts = sourcesBelow(path.join(root, "server/src")).flatMap(textsIn);

  it("are found", () => assert.ok(texts.length > 50));

  it("have the same placeholders in both languages", () => {
    for (const { place, en, chinese } of texts) {
      assert.deepEqual(placeholders(chinese, "zh-CN"), placeholders(en, "en"), `${place}: ${en}`);
    }
  });

  it("are written in their languages", () => {
    const han = /\p{Script=Han}/u;
    for (const { place, en, chinese } of texts) {
      assert.doesNotMatch(en, han, place);
      // Texts that are names or values only (`{title}`, `MiB`) need no Chinese.
      const words = en.replace(/\{[^}]*\}/g, "").match(/[a-z]{3,}/g) ?? [];
      if (words.length > 3) assert.match(chinese, han, `${place}: ${chinese}`);
    }
  });

  it("are rendered when asked, values that are messages in the same language", () => {
    const inner = message({ en: "two", "zh-cn": "二" });
    const outer = message(
      { en: "{n, plural, one {# call} other {# calls}}: {inner}", "zh-cn": "{n} 次：{inner}" },
      { n: 2, inner },
    );
    assert.equal(render(outer, "en"), "2 calls: two");
    assert.equal(render(outer, "zh-cn"), "2 次：二");
  });

  it("follow the locale", () => {
    assert.equal(languageFor("zh-cn"), "zh-cn");
    assert.equal(languageFor("zh_CN.UTF-8".replace("_", "-")), "zh-cn");
    assert.equal(languageFor("en-GB"), "en");
    assert.equal(languageFor(undefined), "en");
  });
});

describe("the manifest's texts", () => {
  it("exist in both languages, and every key that the manifest uses", () => {
    const read = (file: string) =>
      JSON.parse(readFileSync(path.join(root, file), "utf8")) as Record<string, string>;
    const [english, chinese] = [read("package.nls.json"), read("package.nls.zh-cn.json")];
    assert.deepEqual(Object.keys(chinese).sort(), Object.keys(english).sort());
    const used = [...readFileSync(path.join(root, "package.json"), "utf8").matchAll(/"%([^%"]+)%"/g)].map(
      ([, key]) => key,
    );
    for (const key of used)
      assert.ok(key !== undefined && key in english, `package.nls.json lacks ${String(key)}`);
  });
});

describe("the texts of VS Code's side", () => {
  const client = sourcesBelow(path.join(root, "client/src"))
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
  const used = [...client.matchAll(/l10n\.t\(\s*("(?:[^"\\]|\\.)*")/g)].map(
    ([, literal]) => JSON.parse(literal ?? '""') as string,
  );
  const chinese = JSON.parse(
    readFileSync(path.join(root, "l10n/bundle.l10n.zh-cn.json"), "utf8"),
  ) as Readonly<Record<string, string>>;

  it("are literals", () => {
    assert.equal(used.length, [...client.matchAll(/l10n\.t\(/g)].length);
  });

  it("exist in Chinese, with the same placeholders, and no others do", () => {
    assert.deepEqual(Object.keys(chinese).sort(), [...new Set(used)].sort());
    const places = (text: string): string[] => (text.match(/\{\d+\}/g) ?? []).sort();
    for (const [english, translated] of Object.entries(chinese)) {
      assert.deepEqual(places(translated), places(english), english);
    }
  });
});
