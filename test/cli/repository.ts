import { execFileSync } from "node:child_process";
import { TemporaryFolder } from "../unit/workspace/folder";

/** A git repository of its own for a test, untouched by the machine's configuration. */
export class Repository extends TemporaryFolder {
  constructor(files: Readonly<Record<string, string | Uint8Array>> = {}) {
    super(files);
    this.git("init", "--quiet", "--initial-branch=main");
    this.commit("first");
  }

  git(...argv: string[]): string {
    const env = {
      PATH: process.env["PATH"],
      HOME: this.path,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_AUTHOR_NAME: "test",
      GIT_AUTHOR_EMAIL: "test@example.org",
      GIT_COMMITTER_NAME: "test",
      GIT_COMMITTER_EMAIL: "test@example.org",
    };
    return execFileSync("git", argv, {
      cwd: this.path,
      env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  /** Everything as it is now. */
  commit(title: string): void {
    this.git("add", "--all");
    this.git("commit", "--quiet", "--allow-empty", "-m", title);
  }
}
