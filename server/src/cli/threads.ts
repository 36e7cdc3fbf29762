/** Many files spread over the cores. What a thread gets and gives back is plain data; without threads nothing is lost. */
import { availableParallelism } from "node:os";
import { parentPort, Worker } from "node:worker_threads";
import type { AnalysisOptions } from "../analysis";
import { initializeParser } from "../python/parse";
import { Source } from "../python/source";
import { Disk, importResolver, withTreeOf } from "../workspace/imports";
import { readParserBinaries } from "../workspace/parser-binaries";
import { describeError, errorCode } from "../workspace/problem";
import { checkText, fixText } from "./checked-file";
import type { FixChoice, FixedFile, UseTree } from "./checked-file";
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
export function followingImports(
  options: AnalysisOptions,
  { file, root }: FilePlace,
  disk: Disk,
): AnalysisOptions {
  return { ...options, resolveImport: importResolver(file, { root, disk }) };
}

/** The tree of a file that others import is parsed once for them and for its own check. */
export function sharingTree({ file }: FilePlace): UseTree {
  return (text, use) => withTreeOf(file, text, use);
}

/** A run takes the tree of files as it finds it; a thread lives as long as its run. */
const threadsDisk = new Disk();

/** A file without what the other side has: its text goes back only where a fix changed it. */
type Answer =
  | { readonly file: Omit<FixedFile, "source" | "options"> & { readonly changedText: string | undefined } }
  | { readonly error: string };

/** Below so many files starting threads takes longer than it saves. */
const fewestFiles = 200;
const mostThreads = 8;
/** One that is worked on and one that waits in the thread, which then never waits for this side. */
const tasksPerThread = 2;

function answerTo(job: Job): Answer {
  const { text, filter, fixes } = job;
  try {
    const options = followingImports(job.options, job.place, threadsDisk);
    const useTree = sharingTree(job.place);
    const checked =
      fixes === undefined
        ? { ...checkText(job.name, text, options, filter, undefined, useTree), fixed: 0 }
        : fixText(job.name, text, options, filter, fixes, undefined, useTree);
    const { name, findings, keys, renamed, failures, fixed, source } = checked;
    const changedText = source.text === text ? undefined : source.text;
    return { file: { name, findings, keys, ...(renamed && { renamed }), failures, fixed, changedText } };
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
  /** Threads that live, with what each has been given, in that order. */
  private readonly tasks = new Map<Worker, Task[]>();
  private readonly waiting: Task[] = [];

  private constructor(file: string, count: number) {
    for (let index = 0; index < count; index++) {
      const worker = new Worker(file);
      this.tasks.set(worker, []);
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
    const { changedText, ...file } = answer.file;
    return { ...file, source: new Source(changedText ?? job.text), options: job.options };
  }

  /** What is not answered by now never will be. */
  async end(): Promise<void> {
    const workers = [...this.tasks.keys()];
    this.tasks.clear();
    this.waiting.length = 0;
    await Promise.all(workers.map((worker) => worker.terminate()));
  }

  private answered(worker: Worker, answer: Answer): void {
    const task = this.tasks.get(worker)?.shift();
    if (task === undefined) return;
    this.next();
    task.done(answer);
  }

  /** A thread that ended takes no more work; what it had is done by others, but for what it was at. */
  private died(worker: Worker, error: unknown): void {
    const [task, ...untouched] = this.tasks.get(worker) ?? [];
    if (!this.tasks.delete(worker)) return;
    this.waiting.unshift(...untouched);
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
    const [least] = [...this.tasks].sort(([, one], [, other]) => one.length - other.length);
    if (least === undefined) return;
    const [worker, given] = least;
    const task = given.length < tasksPerThread ? this.waiting.shift() : undefined;
    if (task === undefined) return;
    given.push(task);
    worker.postMessage(task.job);
  }
}
