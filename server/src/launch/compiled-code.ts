/**
 * Starts a bundled program with the code that V8 compiled in an earlier run: compiling it anew is a third of what a check of
 * one file costs. Node's own compile cache (`module.enableCompileCache`) keeps only what is compiled while a file loads, and
 * Node 20 has none; this keeps what the earlier run has used (https://nodejs.org/api/vm.html#scriptcreatecacheddata).
 *
 * Nothing depends on it: a cache that is missing, foreign or damaged, or a folder that cannot be written, costs time only.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { Script, constants } from "node:vm";
import { isMainThread } from "node:worker_threads";
import { cacheFolder } from "./cache-folder";
import { makeObjectsYoung } from "./collector";

/** Runs the CommonJS bundle `name` beside `launcher`, as if the launcher were that file. */
export function runProgram(launcher: string, name: string): void {
  // Before anything is compiled: code that was compiled with other flags is not taken.
  makeObjectsYoung();
  const file = path.join(path.dirname(launcher), name);
  const source = readFileSync(file, "utf8");
  const place = cachePlace(file);
  const known = place === undefined ? undefined : readCache(place);
  const script = new Script(`(function (require, module, exports, __filename, __dirname) {${source}\n})`, {
    filename: file,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(known && { cachedData: known.code }),
  });
  const taken = script.cachedDataRejected === false ? known?.workBehind : undefined;
  if (place !== undefined && isMainThread) keepWhatIsUsed(script, place, taken);
  const module = { exports: {} };
  const body = script.runInThisContext() as (...given: unknown[]) => void;
  body(createRequire(file), module, module.exports, launcher, path.dirname(launcher));
}

/** Where the code of this very file, as this very Node compiles it, is kept; undefined where nothing may be kept. */
function cachePlace(file: string): string | undefined {
  const folder = cacheFolder(process.env, process.platform);
  if (folder === undefined) return undefined;
  const { size, mtimeMs } = statSync(file);
  const which = [
    file,
    size,
    mtimeMs,
    process.version,
    process.arch,
    process.execArgv,
    process.env["NODE_OPTIONS"],
  ];
  return path.join(folder, `${digestOf(JSON.stringify(which)).toString("hex")}.bin`);
}

interface Cache {
  readonly code: Buffer;
  /** Milliseconds of processor time that the run had taken when it was written: the more, the more it knows. */
  readonly workBehind: number;
}

const digestLength = 20;
const headLength = digestLength + 8;

/** V8 does not look whether the data is whole, so we do. */
function digestOf(data: string | Uint8Array): Buffer {
  return createHash("sha1").update(data).digest();
}

function readCache(place: string): Cache | undefined {
  try {
    const kept = readFileSync(place);
    if (!kept.subarray(0, digestLength).equals(digestOf(kept.subarray(digestLength)))) return undefined;
    return { code: kept.subarray(headLength), workBehind: kept.readDoubleLE(digestLength) };
  } catch {
    return undefined;
  }
}

function writeCache(place: string, { code, workBehind }: Cache): void {
  const rest = Buffer.alloc(8 + code.length);
  rest.writeDoubleLE(workBehind);
  code.copy(rest, 8);
  const folder = path.dirname(place);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  removeOld(folder);
  // Another run that starts now must not see half of it.
  const unfinished = `${place}.${process.pid}`;
  writeFileSync(unfinished, Buffer.concat([digestOf(rest), rest]), { mode: 0o600 });
  renameSync(unfinished, place);
}

/** For some versions of Node, of the extension and of the command line side by side. */
const mostKept = 8;

/** Makes room for one more: what versions of long ago have left goes first. */
function removeOld(folder: string): void {
  const written = (file: string): number => statSync(file).mtimeMs;
  const files = readdirSync(folder).map((name) => path.join(folder, name));
  files.sort((one, other) => written(other) - written(one));
  for (const file of files.slice(mostKept - 1)) rmSync(file, { force: true });
}

/** A run that does half as much again as the one that wrote the cache has used more of the code. */
const worthWriting = 1.5;
/** V8 drops what has not been used for a while: a long run no longer has the code that it started with. */
const longestRun = 5_000;
/** A server is not always given the time to end by itself. */
const settledAfter = 20_000;

function keepWhatIsUsed(script: Script, place: string, workBehind: number | undefined): void {
  let isDone = false;
  const keep = (): void => {
    const { user, system } = process.cpuUsage();
    const work = (user + system) / 1000;
    if (isDone || work > longestRun || work < worthWriting * (workBehind ?? 0)) return;
    isDone = true;
    try {
      writeCache(place, { code: script.createCachedData(), workBehind: work });
    } catch {
      // The next run compiles again.
    }
  };
  setTimeout(keep, settledAfter).unref();
  process.once("exit", keep);
}
