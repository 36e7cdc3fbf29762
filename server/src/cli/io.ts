/** The outside world of a run, handed in so that tests can stand in for it. */
export interface Output {
  write(chunk: string | Uint8Array): unknown;
  readonly isTTY?: boolean;
}

export interface Io {
  /** All of standard input. */
  readStdin(): Promise<Uint8Array>;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Turns the program into the language server, which reads and writes the standard streams from then on. */
  startServer?(): void;
  /** A program that answers jobs in a thread; without one all is done in this thread. */
  readonly threadFile?: string | undefined;
  /** Aborted by Ctrl-C: the file at hand is finished, nothing more is begun or said. */
  readonly signal?: AbortSignal;
}

/** Exit codes of the command line. */
export const exitCodes = { clean: 0, findings: 1, failure: 2, interrupted: 130 } as const;
