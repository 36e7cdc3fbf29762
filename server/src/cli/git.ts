/** Asks git what changed since a commit. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import path from "node:path";
import type { LineRange } from "../directives/logical-lines";
import { usageMessages as texts } from "../messages/cli";
import { message } from "../messages/message";
import type { Message } from "../messages/message";
import { checkedEndings } from "../workspace/discover";
import { isNotebook } from "../workspace/notebook";
import { printable } from "../workspace/problem";
import { parseDiff } from "./changed-lines";
import type { ChangedLines } from "./changed-lines";
import type { Io } from "./io";

/** What git says of one file: the lines on which it differs as git counts them, or what it was before. */
export type FileChange =
  | "all"
  | { readonly lines: readonly LineRange[] }
  /** Of a notebook: git's lines are those of its JSON, not of its cells. */
  | { readonly before: Uint8Array };

/** What changed; answers for absolute paths. */
export class Changes {
  private readonly passedOver = new Set<string>();

  constructor(
    private readonly root: string,
    private readonly changed: ChangedLines,
    private readonly untracked: ReadonlySet<string>,
    /** Changed submodules: git says only that they have changed. */
    private readonly submodules: readonly string[],
    /** The commit that was compared with is not what was asked for. */
    readonly note: Message | undefined,
    /** What a file held at the commit; `undefined` when git does not say. */
    private readonly contentAt: (path: string) => Promise<Uint8Array | undefined>,
  ) {}

  /** `all` for a new file, `undefined` for an untouched one. */
  async of(file: string): Promise<FileChange | undefined> {
    const real = await realpath(file).catch(() => file);
    const relative = path.relative(this.root, real).split(path.sep).join("/");
    if (this.untracked.has(relative)) return "all";
    const submodule = this.submodules.find((name) => relative.startsWith(`${name}/`));
    if (submodule !== undefined) this.passedOver.add(submodule);
    const changed = this.changed.get(relative);
    if (changed === undefined || !isNotebook(relative)) return changed && { lines: changed.lines };
    const before = changed.before === undefined ? undefined : await this.contentAt(changed.before);
    return before === undefined ? "all" : { before };
  }

  /** What could not be told of the files asked for. */
  get notes(): readonly Message[] {
    return [...this.passedOver].map((name) => message(texts.submoduleChanged, { path: printable(name) }));
  }
}

/** Everything between the commit where HEAD left `ref` and the files on the disk, new files included. */
export async function changesSince(
  ref: string,
  { cwd, env }: Pick<Io, "cwd" | "env">,
): Promise<Changes | { readonly mistake: Message }> {
  const git = (folder: string, ...argv: string[]): Promise<Answer> => ask(folder, env, argv);
  const top = await git(cwd, "rev-parse", "--show-toplevel");
  if (!top.ok) return { mistake: notUsable(top, cwd) };
  const root = await realpath(text(top).replace(/\n$/, ""));

  const commit = ref.startsWith("-")
    ? undefined
    : await git(root, "rev-parse", "--verify", "--quiet", `${ref}^{commit}`);
  if (commit?.ok !== true) return { mistake: message(texts.noSuchRef, { ref: printable(ref) }) };
  const sha = text(commit).trim();
  const fork = await git(root, "merge-base", sha, "HEAD");
  const base = fork.ok ? text(fork).trim() : sha;
  const note = fork.ok ? undefined : message(texts.noCommonCommit, { ref: printable(ref) });

  const diff = await diffSince(base, (...argv) => git(root, ...argv));
  if ("failure" in diff) return { mistake: failed(diff.failure) };
  const untracked = await git(root, "ls-files", "-z", "--others", "--exclude-standard");
  if (!untracked.ok) return { mistake: failed(untracked) };
  const names = text(untracked).split("\0");
  const hasModules = existsSync(path.join(root, ".gitmodules"));
  const modules = hasModules ? await git(root, "diff", ...submoduleOptions, base, "--") : undefined;
  if (modules?.ok === false) return { mistake: failed(modules) };
  const submodules = modules === undefined ? [] : submodulesIn(text(modules));
  return new Changes(root, diff.changed, new Set(names), submodules, note, async (name) => {
    const content = await git(root, "cat-file", "blob", `${base}:${name}`);
    return content.ok ? content.stdout : undefined;
  });
}

/** What of git's own programs is asked, in the repository. */
type Git = (...argv: string[]) => Promise<Answer>;

/**
 * The diff, with the lines of Python files and notebooks also where `.gitattributes` says that they are not to be shown
 * (`-diff`, `binary`), as is usual for notebooks.
 */
async function diffSince(
  base: string,
  git: Git,
): Promise<{ readonly changed: ChangedLines } | { readonly failure: Answer }> {
  const diff = await git("diff", ...diffOptions, base, "--");
  if (!diff.ok) return { failure: diff };
  const shown = diff.stdout.toString("latin1");
  if (!/^Binary files /m.test(shown)) return { changed: parseDiff(shown) };
  const patterns = checkedEndings.map((ending) => `*${ending}`);
  const hidden = await git("diff", ...diffOptions, "--text", base, "--", ...patterns);
  if (!hidden.ok) return { failure: hidden };
  return { changed: new Map([...parseDiff(hidden.stdout.toString("latin1")), ...parseDiff(shown)]) };
}

/** The submodules that another commit is checked out in, or that have changes. */
const submoduleOptions = ["--raw", "-z", "--no-renames", "--ignore-submodules=untracked"];

/** Those among `git diff --raw -z`; its lines are `:100644 160000 SHA SHA M` with the path behind. */
function submodulesIn(raw: string): string[] {
  const parts = raw.split("\0");
  return parts.filter((_, index) => /^:\d{6} 160000 /.test(parts[index - 1] ?? ""));
}

/** Whatever the user's configuration says about diffs. */
const diffOptions = [
  "--unified=0",
  "--inter-hunk-context=0",
  "--find-renames",
  "--no-color",
  "--no-ext-diff",
  "--no-textconv",
  "--src-prefix=a/",
  "--dst-prefix=b/",
  "--ignore-submodules",
];

interface Answer {
  readonly ok: boolean;
  /** `ENOENT` when there is no git. */
  readonly code: string | number | undefined;
  readonly stdout: Buffer;
  readonly stderr: string;
}

function ask(cwd: string, env: Io["env"], argv: readonly string[]): Promise<Answer> {
  const options = {
    cwd,
    // Its messages are told apart below.
    env: { ...env, LC_ALL: "C", GIT_OPTIONAL_LOCKS: "0" },
    encoding: "buffer",
    maxBuffer: 512 * 1024 * 1024,
    windowsHide: true,
  } as const;
  return new Promise((resolve) => {
    // The repository is somebody's: none of the programs its configuration names is run.
    execFile("git", ["-c", "core.fsmonitor=false", ...argv], options, (error, stdout, stderr) => {
      const code = error === null ? undefined : (error.code ?? undefined);
      resolve({ ok: error === null, code, stdout, stderr: stderr.toString() });
    });
  });
}

function text({ stdout }: Answer): string {
  return stdout.toString("utf8");
}

function notUsable(answer: Answer, cwd: string): Message {
  const folder = printable(cwd);
  if (answer.code === "ENOENT") return message(texts.noGit);
  if (answer.stderr.includes("dubious ownership")) return message(texts.dubiousOwnership, { folder });
  if (answer.stderr.includes("not a git repository")) return message(texts.notARepository, { folder });
  return failed(answer);
}

function failed({ stderr, code }: Answer): Message {
  const detail = stderr.trim() === "" ? String(code) : stderr.trim();
  return message(texts.gitFailed, { detail: printable(detail) });
}
