/** Many files spread over the cores. What a thread gets and gives back is plain data; without threads nothing is lost. */
import { availableParallelism } from "node:os";
import { parentPort, Worker } from "node:worker_threads";
import type { AnalysisOptions } from "../analysis";
import { initializeParser } from "../python/parse";
import { Source } from "../python/source";
import { importResolver } from "../workspace/imports";
import { readParserBinaries } from "../workspace/parser-binaries";
import { describeError, errorCode } from "../workspace/problem";
import { checkText, fixText } from "./checked-file";
import type { FixChoice, FixedFile } from "./checked-file";
import type { FileFilter } from "./file-filter";

/** One Python file. */
export interface Job {
  readonly name: string;
  readonly text: string;
  readonly options: AnalysisOptions;
  readonly filter: FileFilter;
  readonly fixes: FixChoice | undefined;
  /** Where it stands; its imports are followed from there. */
  readonly place: FilePlace;
}

/** Absolute paths of a file and of the folder in which the run was started. */
export interface FilePlace {
  readonly file: string;
  readonly root: string;
}

/** The options with the imports of the file in them: what a thread cannot be sent. */
export function followingImports(options: AnalysisOptions, { file, root }: FilePlace): AnalysisOptions {
  return { ...options, resolveImport: importResolver(file, { root }) };
}

/** A file whose `source` is its text. */
type Answer =
  | { readonly file: Omit<FixedFile, "source" | "options"> & { readonly text: string } }
  | { readonly error: string };

/** Below so many files starting threads takes longer than it saves. */
const fewestFiles = 200;
const mostThreads = 8;

function answerTo(job: Job): Answer {
  const { text, filter, fixes } = job;
  try {
    const options = followingImports(job.options, job.place);
    const checked =
      fixes === undefined
        ? { ...checkText(job.name, text, options, filter), fixed: 0 }
        : fixText(job.name, text, options, filter, fixes);
    const { name, findings, keys, failures, fixed, source } = checked;
    return { file: { name, findings, keys, failures, fixed, text: source.text } };
  } catch (error) {
    return { error: describeError(error) };
  }
}

/** The other end, in a thread: answers jobs until it is ended. */
export async function serve(): Promise<void> {
  await initializeParser(readParserBinaries());
  parentPort?.on("message", (job: Job) => parentPort?.postMessage(answerTo(job)));
}

interface Task {
  readonly job: Job;
  readonly done: (answer: Answer) => void;
}

export class Threads {
  /** Threads that live, with what each is at. */
  private readonly tasks = new Map<Worker, Task | undefined>();
  private readonly waiting: Task[] = [];

  private constructor(file: string, count: number) {
    for (let index = 0; index < count; index++) {
      const worker = new Worker(file);
      this.tasks.set(worker, undefined);
      worker.on("message", (answer: Answer) => this.answered(worker, answer));
      worker.on("error", (error) => this.died(worker, error));
      // Behind an error nothing is left to do; a thread may end without one too.
      worker.on("exit", () => this.died(worker, undefined));
    }
  }

  /** `undefined` where one thread does as well; `file` is a program that calls `serve`. */
  static start(file: string | undefined, files: number, env: Readonly<Record<string, string | undefined>>) {
    const asked = Number(env["VRAMLINT_THREADS"] ?? availableParallelism());
    const count = Math.min(mostThreads, Number.isSafeInteger(asked) ? asked : 1);
    return file === undefined || files < fewestFiles || count < 2 ? undefined : new Threads(file, count);
  }

  /** Rejects when the check itself broke. */
  async run(job: Job): Promise<FixedFile> {
    const answer = await new Promise<Answer>((done) => {
      this.waiting.push({ job, done });
      this.next();
    });
    if ("error" in answer) throw new Error(answer.error);
    const { text, ...file } = answer.file;
    return { ...file, source: new Source(text), options: job.options };
  }

  /** What is not answered by now never will be. */
  async end(): Promise<void> {
    const workers = [...this.tasks.keys()];
    this.tasks.clear();
    this.waiting.length = 0;
    await Promise.all(workers.map((worker) => worker.terminate()));
  }

  private answered(worker: Worker, answer: Answer): void {
    const task = this.tasks.get(worker);
    if (task === undefined) return;
    this.tasks.set(worker, undefined);
    this.next();
    task.done(answer);
  }

  /** A thread that ended takes no more work; what it had is done here, unless that is what ended it. */
  private died(worker: Worker, error: unknown): void {
    const task = this.tasks.get(worker);
    if (!this.tasks.delete(worker)) return;
    // Once more, here, it would take the whole run along.
    const isTooMuch = errorCode(error) === "ERR_WORKER_OUT_OF_MEMORY";
    if (task !== undefined) task.done(isTooMuch ? { error: describeError(error) } : answerTo(task.job));
    this.next();
  }

  private next(): void {
    if (this.tasks.size === 0) {
      for (const { job, done } of this.waiting.splice(0)) done(answerTo(job));
      return;
    }
    const idle = [...this.tasks].find(([, task]) => task === undefined)?.[0];
    const task = idle === undefined ? undefined : this.waiting.shift();
    if (idle === undefined || task === undefined) return;
    this.tasks.set(idle, task);
    idle.postMessage(task.job);
  }
}
