/** The page's entrance: listens to the extension, keeps what is shown, draws it. */
import { render } from "preact";
import type { TimelineAnswer } from "../../server/src/lsp/timeline-request";
import type { FromPage, PanelState, ToPage } from "../src/panel/protocol";
import "./panel.css";
import { readPalette, watchPalette } from "./palette";
import { Panel } from "./panel";
import { pngOf, svgOf } from "./picture";
import type { Actions, View } from "./view";

interface Host {
  postMessage(message: FromPage): void;
  setState(state: PanelState): void;
}

declare function acquireVsCodeApi(): Host;

class Page {
  private view: View | undefined;
  private serial = 0;
  /** The question that is on its way; further ones wait for its answer, and only the last of them is asked. */
  private asked: { readonly serial: number; readonly uri: string } | undefined;
  private isWaiting = false;
  /** When the first change came whose picture is not drawn yet. */
  private changedAt: number | undefined;

  constructor(
    private readonly host: Host,
    private readonly root: HTMLElement,
  ) {
    window.addEventListener("message", ({ data }: MessageEvent<ToPage>) => this.receive(data));
    watchPalette((palette) => this.update({ palette }));
    host.postMessage({ kind: "ready" });
  }

  private receive(message: ToPage): void {
    switch (message.kind) {
      case "start": {
        const { texts, language } = message;
        const none = { uri: "", file: "", isPinned: false, changes: {}, answer: undefined };
        this.view = { texts, language, palette: readPalette(), isTableShown: false, ...none };
        return;
      }
      case "subject": {
        const { uri, file, isPinned, changes } = message;
        this.update({ uri, file, isPinned, changes, answer: undefined });
        this.keep();
        this.ask();
        return;
      }
      case "stale":
        this.ask();
        return;
      case "answer":
        this.answered(message);
    }
  }

  private ask(): void {
    if (this.view === undefined) return;
    if (this.asked !== undefined) {
      this.isWaiting = true;
      return;
    }
    const { uri, changes, answer } = this.view;
    this.serial += 1;
    this.asked = { serial: this.serial, uri };
    this.isWaiting = false;
    const known = answer?.kind === "shown" ? { known: answer.version } : {};
    this.host.postMessage({ kind: "ask", serial: this.serial, uri, changes, ...known });
  }

  private answered({ serial, answer }: Extract<ToPage, { kind: "answer" }>): void {
    if (this.asked?.serial !== serial) return;
    const isCurrent = this.asked.uri === this.view?.uri;
    this.asked = undefined;
    if (isCurrent) this.update({ answer: withKnown(answer, this.view?.answer) });
    if (this.isWaiting || !isCurrent) this.ask();
    else this.noteDelay();
  }

  /** From the first change to its picture on the screen, for tests and for who wants to know. */
  private noteDelay(): void {
    const start = this.changedAt;
    if (start === undefined) return;
    this.changedAt = undefined;
    requestAnimationFrame(() => {
      this.root.dataset["delay"] = (performance.now() - start).toFixed(1);
    });
  }

  private update(part: Partial<View>): void {
    if (this.view === undefined) return;
    this.view = { ...this.view, ...part };
    if (this.view.uri !== "") render(<Panel view={this.view} actions={this.actions} />, this.root);
  }

  private keep(): void {
    if (this.view === undefined) return;
    const { uri, isPinned, changes } = this.view;
    this.host.setState({ uri, isPinned, changes });
  }

  private readonly actions: Actions = {
    change: (changes) => {
      this.changedAt ??= performance.now();
      this.update({ changes });
      this.keep();
      this.ask();
    },
    open: ({ uri, line, character }) => this.host.postMessage({ kind: "open", uri, line, character }),
    pin: (isPinned) => {
      this.update({ isPinned });
      this.keep();
      this.host.postMessage({ kind: "pin", isPinned });
    },
    save: (format) => void this.save(format),
    insertHeader: () => this.host.postMessage({ kind: "insertHeader" }),
    showTable: (isTableShown) => this.update({ isTableShown }),
  };

  private async save(format: "svg" | "png"): Promise<void> {
    const { view } = this;
    if (view?.answer?.kind !== "shown") return;
    const data = format === "svg" ? svgOf(view, view.answer) : await pngOf(view, view.answer);
    this.host.postMessage({ kind: "save", format, data });
  }
}

/** With what was left out of the answer because the page has it. */
function withKnown(answer: TimelineAnswer | null, before: View["answer"]): View["answer"] {
  if (answer?.kind !== "shown") return answer;
  const { now } = answer;
  if (now !== null) return { ...answer, now };
  if (before?.kind === "shown" && before.version === answer.version) return { ...answer, now: before.now };
  // The page was told anew what it shows while the question was on its way: the next question asks for all of it.
  return undefined;
}

const root = document.getElementById("panel");
if (root !== null) new Page(acquireVsCodeApi(), root);
