/** Threads that end before they have answered: nothing is lost, and nothing waits for them. */
import assert from "node:assert/strict";
import { unfiltered } from "../../server/src/cli/file-filter";
import { Threads } from "../../server/src/cli/threads";
import type { Job } from "../../server/src/cli/threads";
import { loadParser } from "../support/parser";
import { TemporaryFolder } from "../unit/workspace/folder";
import { flawed } from "./run";

/** Ends in one of the ways in which a thread can, and answers nothing. */
const ending = (code: string): string => `
const { parentPort } = require("node:worker_threads");
${code.includes("JOB") ? `parentPort.on("message", () => { ${code.replace("JOB", "")} });` : code}
`;

describe("threads that end early", () => {
  let folder: TemporaryFolder;
  before(loadParser);
  beforeEach(() => (folder = new TemporaryFolder()));
  afterEach(() => folder.remove());

  const jobs = Array.from({ length: 5 }, (_, index): Job => ({
    name: `f${index}.py`,
    text: flawed,
    options: {},
    filter: unfiltered,
    fixes: undefined,
    place: { file: `/nowhere/f${index}.py`, root: "/nowhere" },
  }));

  function start(script: string): Threads {
    folder.write("thread.js", script);
    const threads = Threads.start(folder.join("thread.js"), 1000, { VRAMLINT_THREADS: "3" });
    assert.ok(threads);
    return threads;
  }

  for (const [how, code] of [
    ["while they start", "throw new Error('no parser');"],
    ["while they start, without an error", "process.exit(0);"],
    ["at work, by an error", "JOB throw new Error('broken');"],
    ["at work, without an error", "JOB process.exit(1);"],
    ["with what cannot be read", "JOB process.nextTick(() => { throw { odd: true }; });"],
  ] as const) {
    it(`leave their files to this one: ${how}`, async () => {
      const threads = start(ending(code));
      const files = await Promise.all(jobs.map((job) => threads.run(job)));
      assert.deepEqual(
        files.map(({ name, findings }) => [name, findings.length]),
        jobs.map(({ name }) => [name, 2]),
      );
      await threads.end();
    });
  }

  it("while nobody asks anything of them do no harm", async () => {
    const threads = start("setTimeout(() => { throw new Error('idle'); }, 1);");
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal((await threads.run(jobs[0]!)).findings.length, 2);
    await threads.end();
  });

  it("because a file is too much for them say so instead of trying it here", async () => {
    const threads = start(
      ending("JOB throw Object.assign(new Error('out of memory'), { code: 'ERR_WORKER_OUT_OF_MEMORY' });"),
    );
    // Three threads die of it; what comes after them is done here.
    const results = await Promise.allSettled(jobs.map((job) => threads.run(job)));
    assert.deepEqual(
      results.map(({ status }) => status),
      ["rejected", "rejected", "rejected", "fulfilled", "fulfilled"],
    );
    await threads.end();
  });

  it("are ended with work before them", async () => {
    const threads = start(ending("JOB for (;;) {}"));
    for (const job of jobs) void threads.run(job);
    await threads.end();
  });
});
