/** The language server as a Node program: over stdio, or over Node's IPC when a client started it that way. */
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { createConnection, ProposedFeatures } from "vscode-languageserver/node";
import { version } from "../../../package.json";
import { settingsWords } from "../analysis/project-settings";
import { readParserBinaries } from "../workspace/parser-binaries";
import { followImports } from "../workspace/imports";
import type { ImportedFiles } from "../workspace/imports";
import { sitePackagesOf } from "../workspace/installed-packages";
import { listScripts, readScript } from "../workspace/scripts";
import { SettingsFiles } from "../workspace/settings-files";
import { addressOfFile } from "./address";
import type { ServerHost, WorkspaceFiles } from "./host";
import type { SettingsSource } from "./project-files";
import { startServer } from "./server";

const transports = ["--stdio", "--node-ipc", "--socket", "--pipe"];
if (!process.argv.some((argument) => transports.some((name) => argument.startsWith(name)))) {
  process.argv.push("--stdio");
}

/** `scripts/build.mjs` puts the rules' pages beside the bundle. */
const pages = path.join(__dirname, "rules");

const files = new SettingsFiles(settingsWords);

/** Addresses that are no files have no settings. */
function pathOf(uri: string): string | undefined {
  try {
    return uri.startsWith("file:") ? fileURLToPath(uri) : undefined;
  } catch {
    return undefined;
  }
}

const settings: SettingsSource = {
  of(uri) {
    const file = pathOf(uri);
    const found = file === undefined ? undefined : files.ofFile(file);
    return file === undefined || found === undefined ? undefined : { settings: found, path: file };
  },
  all: () => files.all().map((found) => ({ settings: found, uri: pathToFileURL(found.file).href })),
  forget: () => files.forget(),
};

const workspaceFiles: WorkspaceFiles = {
  async list(folders, isCancelled) {
    const paths = folders.flatMap((uri) => pathOf(uri) ?? []);
    const found = await listScripts(paths, (target) => files.excludes(target), isCancelled);
    return found.map(addressOfFile);
  },
  read: (uri) => readScript(pathOf(uri) ?? uri),
};

/** The workspace's folder that a file lies in; the innermost where one holds another. */
function innermostAround(file: string, folders: readonly string[]): string | undefined {
  return folders
    .flatMap((uri) => pathOf(uri) ?? [])
    .filter((folder) => file.startsWith(folder.endsWith(path.sep) ? folder : folder + path.sep))
    .sort((a, b) => b.length - a.length)[0];
}

const host: ServerHost = {
  version,
  loadParser: () => Promise.resolve(readParserBinaries()),
  rulePage(rule, language) {
    const names = language === "en" ? ["doc.md"] : [`doc.${language}.md`, "doc.md"];
    const page = names.map((name) => path.join(pages, rule, name)).find((file) => existsSync(file));
    return page && pathToFileURL(page).href;
  },
  settings,
  files: workspaceFiles,
  followImports(uri, { folders, open, python }) {
    const file = pathOf(uri);
    if (file === undefined) return undefined;
    const root = innermostAround(file, folders);
    const followed = followImports(file, {
      root,
      packages: sitePackagesOf(file, { root, python, variables: process.env }),
      openFile: (place) => open().find((one) => pathOf(one.uri) === place),
    });
    const files = (): ImportedFiles => {
      const { found, missing } = followed.files();
      return { found: found.map(addressOfFile), missing };
    };
    return { ...followed, files };
  },
  now: () => performance.now(),
};

const connection = createConnection(ProposedFeatures.all);
// Everything is contained where it happens; this is the net below it.
process.on("unhandledRejection", (reason) => connection.console.error(`unhandled: ${String(reason)}`));
startServer(connection, host);
