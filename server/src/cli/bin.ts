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
const signals = ["SIGHUP", "SIGINT", "SIGTERM"] as const;
let interruptedCode: number = exitCodes.interrupted;

/** The first Ctrl-C lets the file at hand be finished, the second ends at once; neither says anything. */
function interrupted(signal: keyof typeof exitCodeOfSignal): void {
  interruptedCode = exitCodeOfSignal[signal];
  if (abort.signal.aborted || isReadingStdin) process.exit(interruptedCode);
  abort.abort();
}

if (isMainThread) {
  for (const signal of signals) process.on(signal, interrupted);
}
for (const stream of [process.stdout, process.stderr]) stream.on("error", readerGone);

function readerGone(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") {
    process.stderr.write(`vramlint: ${error.message}\n`, () => process.exit(exitCodes.failure));
    return;
  }
  // The file that is being fixed is finished first.
  isReaderGone = true;
  abort.abort();
}

async function readStdin(): Promise<Uint8Array> {
  isReadingStdin = true;
  const bytes = await buffer(process.stdin);
  isReadingStdin = false;
  return bytes;
}

async function main(loadServer: () => void): Promise<void> {
  const code = await run(process.argv.slice(2), {
    readStdin,
    startServer() {
      // It ends as its protocol says.
      for (const signal of signals) process.removeListener(signal, interrupted);
      for (const stream of [process.stdout, process.stderr]) stream.removeListener("error", readerGone);
      loadServer();
    },
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

/** Runs the command line, or one of its threads; `loadServer` is what `vramlint lsp` does. */
export function start(loadServer: () => void): void {
  void (isMainThread ? main(loadServer) : serve());
}
