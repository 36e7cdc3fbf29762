/** How far a long run has come: one line on standard error, when that is a terminal, gone before anything else is written. */
import { workspaceProgress } from "../messages/workspace";
import { message } from "../messages/message";
import type { Terminal } from "./reporter";

/** Runs over fewer files are over before anybody wonders. */
const fewestFiles = 50;

const clearLine = "\r\u001b[K";

export class Progress {
  private readonly isShown: boolean;
  private percent = -1;
  private isOnScreen = false;

  constructor(
    private readonly terminal: Terminal,
    private readonly total: number,
  ) {
    const { stderr, env } = terminal.io;
    this.isShown = stderr.isTTY === true && env["TERM"] !== "dumb" && total >= fewestFiles;
  }

  /** So many files are done. */
  at(done: number): void {
    const percent = Math.floor((100 * done) / this.total);
    if (!this.isShown || percent === this.percent) return;
    this.percent = percent;
    this.isOnScreen = true;
    const text = this.terminal.text(message(workspaceProgress, { done, total: this.total, percent }));
    this.terminal.io.stderr.write(`${clearLine}${text}`);
  }

  clear(): void {
    if (!this.isOnScreen) return;
    this.isOnScreen = false;
    this.terminal.io.stderr.write(clearLine);
  }
}
