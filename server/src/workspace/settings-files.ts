/** Which settings file holds for a folder: the nearest above it; one, not several added up. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { settingsMessages as texts } from "../messages/workspace";
import { message } from "../messages/message";
import { Source } from "../python/source";
import { errorCode, printable } from "./problem";
import { isExcluded, readSettings } from "./settings";
import type { FileSettings, SettingsPlace, SettingsWords } from "./settings";

/** In the order in which they count where a folder has both. */
export const settingsFileNames: Readonly<Record<string, SettingsPlace>> = {
  "vramlint.toml": "whole",
  "pyproject.toml": "tool.vramlint",
};

/** Larger files are no settings. */
const largestFile = 4 * 1024 * 1024;

/** Reads each file once, until told to forget. Never throws because of what is on the disk. */
export class SettingsFiles {
  private readonly byFolder = new Map<string, FileSettings | undefined>();

  constructor(private readonly words: SettingsWords) {}

  /** The settings for a file, whether it exists or not; absolute. */
  ofFile(file: string): FileSettings | undefined {
    return this.ofFolder(path.dirname(file));
  }

  ofFolder(folder: string): FileSettings | undefined {
    const asked: string[] = [];
    let found: FileSettings | undefined;
    for (let at = folder; ; at = path.dirname(at)) {
      const isKnown = this.byFolder.has(at);
      found = isKnown ? this.byFolder.get(at) : this.read(at);
      if (!isKnown) asked.push(at);
      if (isKnown || found !== undefined || path.dirname(at) === at) break;
    }
    for (const at of asked) this.byFolder.set(at, found);
    return found;
  }

  /** True for a file or a folder that the settings above it leave out; absolute. */
  excludes(target: string): boolean {
    const settings = this.ofFolder(path.dirname(target));
    return settings !== undefined && isExcluded(settings, target);
  }

  /** Every file that was read so far. */
  all(): FileSettings[] {
    const known = [...this.byFolder.values()].filter((settings) => settings !== undefined);
    return [...new Set(known)];
  }

  forget(): void {
    this.byFolder.clear();
  }

  private read(folder: string): FileSettings | undefined {
    for (const [name, place] of Object.entries(settingsFileNames)) {
      const file = path.join(folder, name);
      const text = textOf(file);
      if (text === undefined) continue;
      const where = { file, folder };
      const settings =
        typeof text === "string"
          ? readSettings(text, place, where, this.words)
          : unreadable(where, text.code);
      if (settings !== undefined && (typeof text === "string" || place === "whole")) return settings;
    }
    return undefined;
  }
}

/** `undefined` where there is no such file. */
function textOf(file: string): string | { readonly code: string } | undefined {
  try {
    const bytes = readFileSync(file);
    return bytes.length > largestFile ? { code: "EFBIG" } : bytes.toString("utf8");
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    return ["ENOENT", "ENOTDIR", "EISDIR", "ENAMETOOLONG"].includes(code) ? undefined : { code };
  }
}

function unreadable(where: Pick<FileSettings, "file" | "folder">, code: string): FileSettings {
  const problem = {
    span: { start: 0, end: 0 },
    message: message(texts.unreadable, { code: printable(code) }),
  };
  return {
    ...where,
    source: new Source(""),
    levels: {},
    exclude: [],
    perFileIgnores: [],
    problems: [problem],
  };
}
