/** The page about other editors: its settings, in the editors themselves, with the program as it is installed. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { getStaticTOMLValue, parseTOML } from "toml-eslint-parser";
import type { ClientCapabilities } from "vscode-languageserver/node";
import { TemporaryFolder } from "../unit/workspace/folder";
import { TestClient } from "./support/test-client";

const root = path.join(__dirname, "../..");
const program = path.join(process.env["VRAMLINT_DIST"] ?? path.join(root, "dist"), "cli.js");

const script = `import torch

for batch in loader:
    torch.cuda.empty_cache()
    step(batch)
`;

/** The settings of an editor as the page has them. */
function settingsOf(page: string, language: string): string {
  const text = readFileSync(path.join(root, "docs", page), "utf8");
  const [, settings] = new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, "m").exec(text) ?? [];
  assert.ok(settings, `${page} has no settings in ${language}`);
  return settings;
}

/** Prints line and rule of each diagnostic, then of each that a first quick fix leaves. */
const neovimSteps = `
local function shown(count)
  vim.wait(30000, function() return #vim.diagnostic.get(0) == count end, 50)
  local found = {}
  for _, one in ipairs(vim.diagnostic.get(0)) do
    table.insert(found, (one.lnum + 1) .. " " .. one.code)
  end
  return table.concat(found, ",")
end
io.stdout:write("found: " .. shown(1) .. "\\n")
local where = vim.lsp.util.make_range_params()
where.range = { start = { line = 3, character = 6 }, ["end"] = { line = 3, character = 6 } }
where.context = { diagnostics = {} }
for _, answer in pairs(vim.lsp.buf_request_sync(0, "textDocument/codeAction", where, 30000)) do
  for _, action in ipairs(answer.result or {}) do
    if action.isPreferred then
      vim.lsp.util.apply_workspace_edit(action.edit, "utf-16")
      break
    end
  end
end
io.stdout:write("left: " .. shown(0) .. "\\n")
io.stdout:write("text: " .. table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "|") .. "\\n")
vim.cmd("qall!")
`;

/** Eglot connects after a command; in a batch there is none. */
const emacsSteps = `
(package-initialize)
(load-file "init.el")
(find-file "train.py")
(run-hooks 'post-command-hook)
(flymake-mode 1)
(let ((end (+ (float-time) 30)))
  (while (and (< (float-time) end) (null (flymake-diagnostics)))
    (accept-process-output nil 0.1)
    (flymake-start)))
(dolist (one (flymake-diagnostics))
  (princ (format "found: %s %s\\n" (line-number-at-pos (flymake-diagnostic-beg one)) (flymake-diagnostic-text one))))
(kill-emacs 0)
`;

/** What Helix says of itself, as far as it matters here (helix-lsp/src/client.rs of its repository). */
const helixCapabilities: ClientCapabilities = {
  workspace: {
    configuration: true,
    workspaceFolders: true,
    inlayHint: { refreshSupport: false },
    didChangeWatchedFiles: { dynamicRegistration: true, relativePatternSupport: false },
    workspaceEdit: { documentChanges: true },
  },
  textDocument: {
    hover: { contentFormat: ["markdown"] },
    codeAction: {
      codeActionLiteralSupport: { codeActionKind: { valueSet: ["", "quickfix", "refactor", "source"] } },
      isPreferredSupport: true,
      dataSupport: true,
    },
    publishDiagnostics: { versionSupport: true },
    inlayHint: { dynamicRegistration: false },
  },
  general: { positionEncodings: ["utf-8", "utf-32", "utf-16"] },
};

/** `languages.toml` as far as the page uses it. */
interface HelixLanguages {
  readonly "language-server": Readonly<Record<string, { readonly command: string; readonly args: string[] }>>;
  readonly language: readonly { readonly name: string; readonly "language-servers": readonly string[] }[];
}

function isInstalled(command: string): boolean {
  return spawnSync(command, ["--version"]).status === 0;
}

describe("other editors", function () {
  this.timeout(120_000);
  let folder: TemporaryFolder;

  before(function () {
    if (!existsSync(program)) this.skip();
  });
  beforeEach(() => {
    folder = new TemporaryFolder({ "train.py": script, "home/": "" });
    folder.write("bin/vramlint", `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
    chmodSync(folder.join("bin/vramlint"), 0o755);
  });
  afterEach(() => folder.remove());

  function run(command: string, ...argv: string[]): string {
    const env = {
      HOME: folder.join("home"),
      PATH: `${folder.join("bin")}:${process.env["PATH"]}`,
      LC_ALL: "C.UTF-8",
    };
    const { stdout, stderr, status } = spawnSync(command, argv, { cwd: folder.path, env, encoding: "utf8" });
    assert.equal(status, 0, stderr);
    return `${stdout}${stderr}`;
  }

  it("have a page in both languages, with the same settings", () => {
    for (const language of ["lua", "elisp", "toml"]) {
      assert.equal(settingsOf("editors.zh-cn.md", language), settingsOf("editors.md", language));
    }
  });

  it("Neovim shows findings and applies their fixes", function () {
    if (!isInstalled("nvim")) {
      console.warn("      SKIPPED: there is no nvim on this machine");
      this.skip();
    }
    folder.write("init.lua", settingsOf("editors.md", "lua"));
    folder.write("steps.lua", neovimSteps);
    const printed = run(
      "nvim",
      "--headless",
      "-n",
      "-i",
      "NONE",
      "-u",
      "init.lua",
      "train.py",
      "-c",
      "luafile steps.lua",
    );
    assert.match(printed, /found: 4 empty-cache-in-loop/);
    assert.match(printed, /left: \r?\n/);
    assert.match(printed, /text: import torch\|\|for batch in loader:\| {4}step\(batch\)/);
  });

  it("a client that behaves as Helix does gets findings and fixes with Helix's settings", async () => {
    const settings = getStaticTOMLValue(
      parseTOML(settingsOf("editors.md", "toml")),
    ) as unknown as HelixLanguages;
    const [server = ""] = settings.language.find(({ name }) => name === "python")?.["language-servers"] ?? [];
    const { command, args } = settings["language-server"][server] ?? assert.fail("the page names no server");
    const client = await TestClient.start({
      capabilities: helixCapabilities,
      program: { command, arguments: args, path: `${folder.join("bin")}:${process.env["PATH"]}` },
      settings: { language: "zh-cn" },
      folders: [pathToFileURL(folder.path).href],
    });
    try {
      const uri = pathToFileURL(folder.join("train.py")).href;
      await client.open(uri, script);
      const { diagnostics } = await client.pushed(uri, (params) => params.diagnostics.length > 0);
      const [found] = diagnostics;
      assert.ok(found);
      assert.deepEqual(
        [diagnostics.length, found.code, found.range.start.line],
        [1, "empty-cache-in-loop", 3],
      );
      assert.match(typeof found.message === "string" ? found.message : found.message.value, /每个批次/);
      const preferred = (await client.actionsFor(uri, found)).find(({ isPreferred }) => isPreferred);
      assert.equal(client.textAfter(uri, preferred?.edit), script.replace(/^ {4}torch\.cuda.*\n/m, ""));
    } finally {
      assert.equal(await client.stop(), 0);
    }
  });

  it("Emacs with Eglot shows findings", function () {
    const hasEglot =
      isInstalled("emacs") &&
      spawnSync("emacs", ["--batch", "-f", "package-initialize", "-l", "eglot"]).status === 0;
    if (!hasEglot) {
      console.warn("      SKIPPED: there is no emacs with eglot on this machine");
      this.skip();
    }
    folder.write("init.el", settingsOf("editors.md", "elisp"));
    folder.write("steps.el", emacsSteps);
    assert.match(run("emacs", "--batch", "-l", "steps.el"), /found: 4 .*\[empty-cache-in-loop\]/);
  });
});
