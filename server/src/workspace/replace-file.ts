/** Files replaced in one step: never half a file, and nothing left behind, whatever ends the program. */
import { randomBytes } from "node:crypto";
import { closeSync, constants, fchmodSync, fsync, openSync, rmSync, writeFile } from "node:fs";
import { access, chown, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { errorCode } from "./problem";

/** `changed` when the file is no longer what was read; the code when the system refuses. Nothing is written then. */
export type Replaced = "done" | "changed" | { readonly code: string };

/** New files that do not stand in their place yet. */
const unfinished = new Set<string>();
let isListening = false;

/**
 * Puts new bytes in the place of a file that held `before` (`undefined`: that there was none), through links, with the
 * file's mode and owner.
 */
export async function replaceFile(
  file: string,
  bytes: Uint8Array,
  before: Uint8Array | undefined,
): Promise<Replaced> {
  let temporary: string | undefined;
  try {
    const target = before === undefined ? file : await realpath(file);
    const found = before === undefined ? undefined : await stat(target);
    // A new file could take its place all the same, but somebody has said that it is not to be changed.
    if (found !== undefined && (found.mode & 0o222) === 0) return { code: "EACCES" };
    if (before !== undefined) await access(target, constants.W_OK);
    temporary = path.join(
      path.dirname(target),
      `.${path.basename(target).slice(0, 100)}.${randomBytes(6).toString("hex")}`,
    );
    keepTrackOf(temporary);
    await writeWhole(temporary, bytes, found && found.mode & 0o7777);
    // Only root may give a file away; for everybody else it is theirs already or cannot be helped.
    if (found !== undefined && found.uid !== process.getuid?.()) {
      await chown(temporary, found.uid, found.gid).catch(() => undefined);
    }
    if (!isSame(await bytesOf(target), before)) return "changed";
    await rename(temporary, target);
    unfinished.delete(temporary);
    temporary = undefined;
    return "done";
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    return code === "ENOENT" && before !== undefined ? "changed" : { code };
  } finally {
    if (temporary !== undefined) {
      await rm(temporary, { force: true });
      unfinished.delete(temporary);
    }
  }
}

/** A second Ctrl-C ends the program in the middle of a write. */
function keepTrackOf(temporary: string): void {
  unfinished.add(temporary);
  if (isListening) return;
  isListening = true;
  process.once("exit", () => unfinished.forEach((file) => rmSync(file, { force: true })));
}

async function bytesOf(file: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(file);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

function isSame(now: Uint8Array | undefined, before: Uint8Array | undefined): boolean {
  return now === undefined || before === undefined ? now === before : Buffer.from(now).equals(before);
}

/**
 * Without a mode the file gets that of any new one. It is made at once, not by a thread in the background: what such a thread
 * makes while the program ends could not be removed any more.
 */
async function writeWhole(file: string, bytes: Uint8Array, mode: number | undefined): Promise<void> {
  const descriptor = openSync(file, "wx", mode);
  try {
    // The mode of `open` is cut by the umask.
    if (mode !== undefined) fchmodSync(descriptor, mode);
    await promisify(writeFile)(descriptor, bytes);
    await promisify(fsync)(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
