/**
 * The extension in VS Code's web worker for extensions: the same server and browser as in launch-server.mjs, but the
 * extension comes from a plain web server, as in a VS Code that has nothing behind it, so that its `browser` entry runs.
 */
import { createReadStream, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import os from "node:os";
import path from "node:path";
import * as esbuild from "esbuild";
import { openWindow, startServer, stop } from "./launch-server.mjs";

const types = { ".js": "text/javascript", ".json": "application/json", ".wasm": "application/wasm" };

/** Answers what the suite posted; throws where it posted nothing. */
export async function launchInWorker({ extension, entry, output, limit, log }) {
  const home = mkdtempSync(path.join(os.tmpdir(), "vramlint-web-"));
  for (const name of ["data", "extensions"]) mkdirSync(path.join(home, name));
  const suiteFolder = path.join(output, "web");
  // VS Code runs a suite where the extension runs that it lies in.
  const files = await serveFiles({ "/extension/suite/": suiteFolder, "/extension/": extension });
  const server = await startServer(home, {}, log);
  try {
    await esbuild.build({
      entryPoints: [entry],
      outfile: path.join(suiteFolder, "suite.js"),
      bundle: true,
      platform: "browser",
      target: "es2022",
      format: "cjs",
      external: ["vscode"],
      define: { RESULT_ADDRESS: JSON.stringify(`${files.address}/result`) },
    });
    const query = { ew: "true", payload: JSON.stringify([["skipWelcome", "true"]]) };
    const changes = [[/^\/$/, (html) => withExtension(html, files.address)]];
    await openWindow({ server, query, changes, limit, log });
    if (files.posted.length === 0) throw new Error("the suite left no result");
    return JSON.parse(files.posted[0]);
  } finally {
    await stop(server.process);
    await files.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The page with the extension and its suite by their addresses. */
function withExtension(html, address) {
  const { host } = new URL(address);
  const at = (place) => ({ scheme: "http", authority: host, path: place });
  const pattern = /(id="vscode-workbench-web-configuration" data-settings=")([^"]*)"/;
  if (!pattern.test(html)) throw new Error("the page of VS Code's server has no configuration");
  return html.replace(pattern, (_, start, escaped) => {
    const settings = JSON.parse(escaped.replaceAll("&quot;", '"'));
    const developmentOptions = {
      ...settings.developmentOptions,
      extensions: [at("/extension")],
      extensionTestsPath: at("/extension/suite/suite.js"),
    };
    return `${start}${JSON.stringify({ ...settings, developmentOptions }).replaceAll('"', "&quot;")}"`;
  });
}

/** Folders under prefixes, for pages of every origin; keeps what is posted. */
async function serveFiles(folders) {
  const posted = [];
  const server = createServer((request, response) => {
    const headers = { "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "*" };
    if (request.method === "POST") {
      const chunks = [];
      request.on("data", (chunk) => chunks.push(chunk));
      request.on("end", () => {
        posted.push(Buffer.concat(chunks).toString());
        response.writeHead(204, headers).end();
      });
      return;
    }
    const file =
      request.method === "GET" || request.method === "HEAD" ? fileOf(folders, request.url) : undefined;
    if (file === undefined) {
      response.writeHead(request.method === "OPTIONS" ? 204 : 404, headers).end();
      return;
    }
    const type = types[path.extname(file)] ?? "text/plain; charset=utf-8";
    response.writeHead(200, { ...headers, "Content-Type": type });
    createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${server.address().port}`,
    posted,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

function fileOf(folders, url) {
  const { pathname } = new URL(url, "http://127.0.0.1");
  const prefix = Object.keys(folders).find((name) => pathname.startsWith(name));
  if (prefix === undefined) return undefined;
  const file = path.join(folders[prefix], path.posix.normalize(`/${pathname.slice(prefix.length)}`));
  return statSync(file, { throwIfNoEntry: false })?.isFile() ? file : undefined;
}
