/** The language server as a Node program: over stdio, or over Node's IPC when a client started it that way. */
import { existsSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { createConnection, ProposedFeatures } from "vscode-languageserver/node";
import { version } from "../../../package.json";
import { readParserBinaries } from "../workspace/parser-binaries";
import type { ServerHost } from "./host";
import { startServer } from "./server";

const transports = ["--stdio", "--node-ipc", "--socket", "--pipe"];
if (!process.argv.some((argument) => transports.some((name) => argument.startsWith(name)))) {
  process.argv.push("--stdio");
}

/** `scripts/build.mjs` puts the rules' pages beside the bundle. */
const pages = path.join(__dirname, "rules");

const host: ServerHost = {
  version,
  loadParser: () => Promise.resolve(readParserBinaries()),
  rulePage(rule, language) {
    const names = language === "en" ? ["doc.md"] : [`doc.${language}.md`, "doc.md"];
    const page = names.map((name) => path.join(pages, rule, name)).find((file) => existsSync(file));
    return page && pathToFileURL(page).href;
  },
  now: () => performance.now(),
};

const connection = createConnection(ProposedFeatures.all);
// Everything is contained where it happens; this is the net below it.
process.on("unhandledRejection", (reason) => connection.console.error(`unhandled: ${String(reason)}`));
startServer(connection, host);
