/**
 * Findings of files that nobody has open: the whole workspace is checked once, one file at a time so that edits and
 * requests come in between, and from then on each file is looked at again when it changes. Open files speak for
 * themselves; what was said of them here is taken back.
 */
import type { CancellationToken, Diagnostic, WorkDoneProgressReporter } from "vscode-languageserver";
import { message, render } from "../messages/message";
import { editorMessages } from "../messages/editor";
import { canonicalAddress } from "./address";
import type { Diagnostics } from "./diagnostics";
import { DiskUnit } from "./disk-unit";
import type { WorkspaceFiles } from "./host";
import { ImportGraph } from "./import-graph";
import type { ScanAnswer } from "./scan-request";
import type { Session } from "./session";
import { nextTurn } from "./next-turn";
import { severities } from "./protocol-text";

/** Milliseconds that changes on disk are collected for. */
const changeDelay = 200;
/** Milliseconds between two words about the progress. */
const progressInterval = 100;

type IsCancelled = () => boolean;

export class WorkspaceScan {
  /** Files with findings on display. */
  private readonly shown = new Set<string>();
  /** The files of the last scan; `undefined` while nothing is followed. */
  private followed: ReadonlySet<string> | undefined;
  /** Grows with every scan and when all is taken back: older ones stop. */
  private serial = 0;
  private readonly changed = new Set<string>();
  /** Documents that the client has open, by our spelling of their addresses. */
  private readonly open = new Set<string>();
  private readonly imports = new ImportGraph();
  private isListOutdated = false;
  private isWanted = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly session: Session,
    private readonly diagnostics: Diagnostics,
    private readonly folders: () => readonly string[],
  ) {}

  /** Checks every file. A scan that is under way already stops. */
  async run(token: CancellationToken, progress?: WorkDoneProgressReporter): Promise<ScanAnswer | undefined> {
    const { files } = this.session.host;
    const folders = this.folders();
    if (files === undefined || folders.length === 0) return undefined;
    const serial = ++this.serial;
    const isCancelled = (): boolean => token.isCancellationRequested || this.serial !== serial;
    const say = await this.speaker(folders);
    progress?.begin(say("scanning"), 0, undefined, true);
    try {
      await this.session.parserReady();
      const uris = await files.list(folders, isCancelled);
      this.followed = new Set(uris);
      let told = 0;
      const answer = await this.checkAll(uris, files, isCancelled, (done) => {
        const now = this.session.host.now();
        if (now - told < progressInterval) return;
        told = now;
        progress?.report((100 * done) / uris.length, say("scanned", { done, all: uris.length }));
      });
      if (!answer.isCancelled) this.takeBack((uri) => !this.isFollowed(uri));
      return answer;
    } finally {
      progress?.done();
    }
  }

  private async speaker([first = ""]: readonly string[]) {
    const { language } = await this.session.configuration.ofFile(first, first);
    return (text: keyof typeof editorMessages, values: Readonly<Record<string, number>> = {}): string =>
      render(message(editorMessages[text], values), language);
  }

  private async checkAll(
    uris: readonly string[],
    files: WorkspaceFiles,
    isCancelled: IsCancelled,
    done: (count: number) => void,
  ): Promise<ScanAnswer> {
    let [checked, findings, filesWithFindings, unread] = [0, 0, 0, 0];
    for (const uri of uris) {
      // Messages that came meanwhile are handled first: an edit, a request, the cancellation.
      await nextTurn();
      if (isCancelled()) break;
      const found = await this.check(uri, files, isCancelled);
      if (found === "unread") unread += 1;
      else if (found > 0) [findings, filesWithFindings] = [findings + found, filesWithFindings + 1];
      checked += 1;
      done(checked);
    }
    const isEnded = checked === uris.length;
    return { checked, files: uris.length, findings, filesWithFindings, unread, isCancelled: !isEnded };
  }

  /** How much there is to say about a file. */
  private async check(
    uri: string,
    files: WorkspaceFiles,
    isCancelled: IsCancelled = () => false,
  ): Promise<number | "unread"> {
    const { connection, configuration, analyses } = this.session;
    const read = await files.read(uri);
    if ("problem" in read) {
      connection.console.warn(render(read.problem, "en"));
      this.show(uri, []);
      return "unread";
    }
    const settings = await configuration.ofFile(uri, this.folderOf(uri));
    if (isCancelled()) return 0;
    const unit = new DiskUnit(uri, read);
    try {
      const all = this.diagnostics.diagnosticsByDocument(unit, settings).get(uri) ?? [];
      // Hints are for whoever reads the line. Fixes are asked for where the file is open.
      const found = all
        .filter(({ severity }) => severity !== severities.hint)
        .map((told) => ({ ...told, data: undefined }));
      // Opened meanwhile: it speaks for itself.
      this.show(uri, this.open.has(uri) ? [] : found);
      this.imports.set(uri, analyses.importsOf(unit));
      return found.length;
    } finally {
      unit.dispose();
    }
  }

  /** A document was opened: its findings come the other way now. */
  opened(address: string): void {
    const uri = canonicalAddress(address);
    this.open.add(uri);
    if (this.shown.has(uri)) this.show(uri, []);
  }

  closed(address: string): void {
    this.open.delete(canonicalAddress(address));
    this.textChanged(address);
  }

  /** The file has another text, on disk or in an editor. */
  textChanged(address: string): void {
    const uri = canonicalAddress(address);
    if (!this.isFollowed(uri)) return;
    this.changed.add(uri);
    this.schedule();
  }

  /** Files or folders came, went or have another name. */
  filesMoved(): void {
    if (this.followed === undefined) return;
    this.isListOutdated = true;
    this.schedule();
  }

  /** What the settings want. A scan that was asked for outlives settings that want none. */
  async follow(isWanted: boolean): Promise<void> {
    const wasWanted = this.isWanted;
    this.isWanted = isWanted;
    if (isWanted && this.followed === undefined) await this.run(never);
    if (!isWanted && wasWanted) this.clear();
  }

  private schedule(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.session.background(this.catchUp()), changeDelay);
  }

  /** The settings changed: all is checked again, without a word about it. */
  settingsChanged(): void {
    if (this.followed === undefined) return;
    this.session.background(this.run(never));
  }

  /** Takes everything back and follows nothing any more. */
  clear(): void {
    this.serial += 1;
    this.followed = undefined;
    this.changed.clear();
    this.imports.clear();
    clearTimeout(this.timer);
    this.takeBack(() => true);
  }

  private async catchUp(): Promise<void> {
    const { files } = this.session.host;
    if (files === undefined || this.followed === undefined) return;
    const changed = new Set(this.changed);
    this.changed.clear();
    for (const uri of await this.listAnew(files)) changed.add(uri);
    for (const uri of [...changed, ...this.imports.importersOf(changed)]) {
      await nextTurn();
      if (this.isFollowed(uri) && !this.open.has(uri)) await this.check(uri, files);
    }
  }

  /** Where files came or went: those, and the new ones' importers, who looked for them in vain. */
  private async listAnew(files: WorkspaceFiles): Promise<Set<string>> {
    if (!this.isListOutdated || this.followed === undefined) return new Set();
    this.isListOutdated = false;
    const before = this.followed;
    const now = new Set(await files.list(this.folders(), () => false));
    this.followed = now;
    const added = [...now].filter((uri) => !before.has(uri));
    const gone = [...before].filter((uri) => !now.has(uri));
    this.takeBack((uri) => !this.isFollowed(uri));
    const changed = new Set([...added, ...gone, ...this.imports.missing(added)]);
    for (const uri of this.imports.importersOf(gone)) changed.add(uri);
    for (const uri of gone) this.imports.delete(uri);
    return changed;
  }

  private isFollowed(uri: string): boolean {
    return this.followed?.has(uri) === true;
  }

  private takeBack(isGone: (uri: string) => boolean): void {
    for (const uri of [...this.shown]) if (isGone(uri)) this.show(uri, []);
  }

  private show(uri: string, diagnostics: Diagnostic[]): void {
    if (diagnostics.length === 0 && !this.shown.delete(uri)) return;
    if (diagnostics.length > 0) this.shown.add(uri);
    this.session.background(this.session.connection.sendDiagnostics({ uri, diagnostics }));
  }

  /** The innermost folder of the workspace that holds a file. */
  private folderOf(uri: string): string {
    const around = this.folders().filter((folder) =>
      uri.startsWith(folder.endsWith("/") ? folder : `${folder}/`),
    );
    return around.sort((a, b) => b.length - a.length)[0] ?? uri;
  }
}

const never: CancellationToken = {
  isCancellationRequested: false,
  onCancellationRequested: () => ({ dispose: () => undefined }),
};
