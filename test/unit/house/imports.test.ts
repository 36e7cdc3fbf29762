/** The house rules of docs/architecture.md: who may import whom, and that the pure rooms stay pure. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";

const sources = path.join(__dirname, "../../../server/src");

/** The rooms each room may import values from; its own is always allowed. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  messages: [],
  python: [],
  torch: ["python", "messages"],
  memory: ["python", "messages"],
  workspace: ["python", "messages"],
  rules: ["python", "torch", "memory", "messages"],
  directives: ["python", "memory", "messages"],
  analysis: ["python", "torch", "memory", "rules", "directives", "messages"],
  lsp: ["analysis", "rules", "directives", "memory", "torch", "python", "workspace", "messages"],
  cli: ["analysis", "rules", "directives", "memory", "torch", "python", "workspace", "messages"],
  bin: ["cli", "lsp"],
  launch: [],
};

/** Types cost nothing at run time; these may cross where the table above says no. */
const mayImportTypes: Readonly<Record<string, readonly string[]>> = {
  directives: ["rules"],
};

const pure = new Set(["messages", "python", "torch", "memory", "rules", "directives", "analysis"]);
const impurePackages = /^(node:|vscode|fs$|path$|os$|child_process$)/;
/** Where tree-sitter is touched; everybody else works on our own tree. */
const treeSitterFiles = ["python/parse.ts", "python/cursor.ts", "python/memory-cursor.ts"];
/** The product's own version and names. */
const manifest = path.join(sources, "../../package.json");

interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
}

function importsOf(file: string): Import[] {
  const parsed = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest);
  const found: Import[] = [];
  const add = (node: ts.Expression | undefined, typeOnly: boolean) => {
    if (node && ts.isStringLiteral(node)) found.push({ specifier: node.text, typeOnly });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      add(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
    } else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0], false);
    } else if (ts.isCallExpression(node) && node.expression.getText(parsed) === "require") {
      add(node.arguments[0], false);
    }
    ts.forEachChild(node, visit);
  };
  visit(parsed);
  return found;
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(file);
    return entry.name.endsWith(".ts") ? [file] : [];
  });
}

function roomOf(file: string): string {
  const [first = ""] = path.relative(sources, file).split(path.sep);
  return first.replace(/\.ts$/, "");
}

describe("the house", () => {
  const files = filesBelow(sources);

  it("has files in every room", () => {
    const rooms = new Set(files.map(roomOf));
    assert.deepEqual(
      Object.keys(mayImport).filter((room) => !rooms.has(room)),
      [],
    );
  });

  for (const file of files) {
    const relative = path.relative(sources, file).split(path.sep).join("/");
    it(`${relative} imports only what its room may`, () => {
      const room = roomOf(file);
      const allowed = mayImport[room];
      assert.ok(allowed, `${room} is not a room of the house`);
      for (const { specifier, typeOnly } of importsOf(file)) {
        if (specifier.startsWith(".")) {
          if (path.resolve(path.dirname(file), specifier) === manifest && !pure.has(room)) continue;
          const target = roomOf(path.resolve(path.dirname(file), specifier));
          const permitted =
            target === room ||
            allowed.includes(target) ||
            (typeOnly && (mayImportTypes[room] ?? []).includes(target));
          assert.ok(
            permitted,
            `${room} must not import ${typeOnly ? "types of " : ""}${target} (${specifier})`,
          );
          continue;
        }
        if (pure.has(room)) assert.doesNotMatch(specifier, impurePackages, `${room} is pure`);
        if (specifier === "web-tree-sitter") assert.ok(treeSitterFiles.includes(relative));
        if (/^vscode-languageserver/.test(specifier)) assert.equal(room, "lsp");
      }
    });
  }
});
