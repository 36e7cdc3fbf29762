/** The program: `run` between the real streams. */
import { buffer } from "node:stream/consumers";
import { isMainThread } from "node:worker_threads";
import { exitCodes } from "./io";
import { run } from "./main";
import { serve } from "./threads";

const abort = new AbortController();
let isReadingStdin = false;
/** Whoever read our output has seen enough (`| head`). */
let isReaderGone = false;

/** What the shell expects of a program that such a signal ended. */
const exitCodeOfSignal = { SIGHUP: 129, SIGINT: exitCodes.interrupted, SIGTERM: 143 } as const;
let interruptedCode: number = exitCodes.interrupted;

/** The first Ctrl-C lets the file at hand be finished, the second ends at once; neither says anything. */
function interrupted(signal: keyof typeof exitCodeOfSignal): void {
  interruptedCode = exitCodeOfSignal[signal];
  if (abort.signal.aborted || isReadingStdin) process.exit(interruptedCode);
  abort.abort();
}

if (isMainThread) {
  for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const) process.on(signal, interrupted);
}
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") process.exit(exitCodes.failure);
    // The file that is being fixed is finished first.
    isReaderGone = true;
    abort.abort();
  });
}

async function readStdin(): Promise<Uint8Array> {
  isReadingStdin = true;
  const bytes = await buffer(process.stdin);
  isReadingStdin = false;
  return bytes;
}

async function main(): Promise<void> {
  const code = await run(process.argv.slice(2), {
    readStdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    signal: abort.signal,
    // The bundle itself; run from source there is none that a thread could load.
    threadFile: __filename.endsWith(".js") ? __filename : undefined,
  });
  // Not `process.exit`: what is still on its way into a pipe must arrive.
  const ended = code === exitCodes.interrupted ? interruptedCode : code;
  process.exitCode = isReaderGone ? exitCodes.clean : ended;
}

void (isMainThread ? main() : serve());
