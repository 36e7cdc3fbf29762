import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** A folder of its own for a test, with files by relative path; a path ending in `/` makes an empty folder. */
export class TemporaryFolder {
  readonly path = realpathSync(mkdtempSync(path.join(tmpdir(), "vramlint-test-")));

  constructor(files: Readonly<Record<string, string | Uint8Array>> = {}) {
    for (const [name, content] of Object.entries(files)) this.write(name, content);
  }

  write(name: string, content: string | Uint8Array): void {
    const file = path.join(this.path, name);
    mkdirSync(name.endsWith("/") ? file : path.dirname(file), { recursive: true });
    if (!name.endsWith("/")) writeFileSync(file, content);
  }

  join(...parts: string[]): string {
    return path.join(this.path, ...parts);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true, maxRetries: 5 });
  }
}
