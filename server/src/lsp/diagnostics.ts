/**
 * Diagnostics: pulled where the client can pull, pushed where it cannot. A change in one notebook cell changes what is
 * said of the others, which pulling one document cannot express: notebook cells are always pushed. No document gets
 * both.
 */
import type {
  Diagnostic,
  DocumentDiagnosticParams,
  DocumentDiagnosticReport,
  WorkspaceEdit,
} from "vscode-languageserver";
import { editorMessages } from "../messages/editor";
import { inLines } from "../messages/lines";
import { message } from "../messages/message";
import type { Finding, FixSafety } from "../rules/rule";
import type { Outcome } from "./analyses";
import type { Settings } from "./configuration";
import { isRecord } from "./client-features";
import { DiskUnit } from "./disk-unit";
import { NotebookUnit } from "./notebook-unit";
import { severities, workspaceEdit } from "./protocol-text";
import type { Session } from "./session";
import { textIn } from "./session";
import type { TextUnit } from "./text-unit";

export const diagnosticSource = "vramlint";

/** A fix as it travels in a diagnostic's data: nothing has to be kept or computed again to offer it. */
export interface CarriedFix {
  readonly title: string;
  readonly safety: FixSafety;
  readonly edit: WorkspaceEdit;
}

export interface DiagnosticData {
  /** The client's version of the text that the edits are for. */
  readonly version: number;
  readonly fixes: readonly CarriedFix[];
}

/** Reads what came back with a request; anything else than our own data gives `undefined`. */
export function readDiagnosticData(data: unknown): DiagnosticData | undefined {
  if (!isRecord(data) || typeof data["version"] !== "number" || !Array.isArray(data["fixes"]))
    return undefined;
  const fixes = data["fixes"].filter(
    (fix): fix is CarriedFix => isRecord(fix) && typeof fix["title"] === "string" && isRecord(fix["edit"]),
  );
  return { version: data["version"], fixes };
}

export function fixesOf(unit: TextUnit, settings: Settings, finding: Finding): CarriedFix[] {
  const fixes: CarriedFix[] = [];
  for (const fix of finding.fixes) {
    const edit = workspaceEdit(unit, fix.edits);
    if (edit) fixes.push({ title: textIn(settings, fix.title), safety: fix.safety, edit });
  }
  return fixes;
}

export class Diagnostics {
  private readonly waiting = new Map<string, ReturnType<typeof setTimeout>>();
  /** The pause after an edit, by address. */
  private readonly pauses = new Map<string, ReturnType<typeof setTimeout>>();
  private readonly unsaved = new WeakSet<TextUnit>();
  /** What was pushed last for each cell of a notebook. */
  private readonly told = new Map<string, string>();
  private lookingAround: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly session: Session) {}

  /** Answers a pull. */
  async report(params: DocumentDiagnosticParams): Promise<DocumentDiagnosticReport> {
    const { uri } = params.textDocument;
    const unit = this.session.documents.unitOf(uri);
    if (unit === undefined || unit instanceof NotebookUnit) return { kind: "full", items: [] };
    const settings = await this.session.configuration.of(unit.uri);
    await this.session.parserReady();
    const previous = params.previousResultId;
    // With `run: onSave` what was found at the last save stays until the next one.
    if (previous !== undefined && settings.run === "onSave" && this.unsaved.has(unit)) {
      return { kind: "unchanged", resultId: previous };
    }
    const identity = `${unit.version}.${this.session.analyses.serialOf(unit, settings)}`;
    if (identity === previous) return { kind: "unchanged", resultId: identity };
    const items = this.diagnosticsByDocument(unit, settings).get(uri) ?? [];
    return { kind: "full", resultId: unit.typing.isHolding ? `${identity}.typing` : identity, items };
  }

  changed(unit: TextUnit, isNew: boolean): void {
    if (!isNew) this.unsaved.add(unit);
    this.waitForPause(unit);
    if (this.isPushed(unit)) this.schedule(unit);
  }

  /** What is held back while somebody types is told when the typing pauses, to clients that can be told then. */
  private waitForPause(unit: TextUnit): void {
    clearTimeout(this.pauses.get(unit.uri));
    if (!this.isPushed(unit) && !this.session.features.refreshesDiagnostics) {
      unit.typing.pause();
      return;
    }
    const timer = setTimeout(() => this.paused(unit), typingPause);
    this.pauses.set(unit.uri, timer);
  }

  private paused(unit: TextUnit): void {
    clearTimeout(this.pauses.get(unit.uri));
    this.pauses.delete(unit.uri);
    const wasHolding = unit.typing.isHolding;
    unit.typing.pause();
    if (!wasHolding) return;
    if (this.isPushed(unit)) this.schedule(unit);
    else this.askToPullAgain();
  }

  async saved(unit: TextUnit): Promise<void> {
    const wasUnsaved = this.unsaved.delete(unit);
    this.paused(unit);
    if (this.isPushed(unit)) this.schedule(unit);
    else if (wasUnsaved && (await this.session.configuration.of(unit.uri)).run === "onSave")
      this.askToPullAgain();
  }

  /** The settings changed: everything is found anew. */
  settingsChanged(): void {
    for (const unit of this.session.documents.all()) {
      this.unsaved.delete(unit);
      if (this.isPushed(unit)) this.schedule(unit);
    }
    this.askToPullAgain();
  }

  /** The text of a file changed, in an editor or on disk: what imports it is looked at again a moment later. */
  importsChanged(): void {
    clearTimeout(this.lookingAround);
    this.lookingAround = setTimeout(() => {
      this.session.background(this.refreshOutdated());
    }, importDelay);
  }

  private async refreshOutdated(): Promise<void> {
    await this.session.parserReady();
    const outdated = this.session.documents.all().filter((unit) => this.session.analyses.isOutdated(unit));
    if (outdated.length === 0) return;
    for (const unit of outdated) if (this.isPushed(unit)) this.schedule(unit);
    this.askToPullAgain();
    if (this.session.features.refreshesInlayHints)
      this.session.background(this.session.connection.languages.inlayHint.refresh());
  }

  closed(unit: TextUnit, documents: readonly string[]): void {
    for (const timers of [this.waiting, this.pauses]) {
      clearTimeout(timers.get(unit.uri));
      timers.delete(unit.uri);
    }
    if (this.isPushed(unit)) this.clear(documents);
  }

  clear(documents: readonly string[]): void {
    for (const uri of documents) {
      this.told.delete(uri);
      this.session.background(this.session.connection.sendDiagnostics({ uri, diagnostics: [] }));
    }
  }

  private isPushed(unit: TextUnit): boolean {
    return unit instanceof NotebookUnit || !this.session.features.pullsDiagnostics;
  }

  private askToPullAgain(): void {
    if (this.session.features.pullsDiagnostics && this.session.features.refreshesDiagnostics) {
      this.session.background(this.session.connection.languages.diagnostics.refresh());
    }
  }

  /** Several messages that wait already are handled before the text is looked at. */
  private schedule(unit: TextUnit): void {
    clearTimeout(this.waiting.get(unit.uri));
    const timer = setTimeout(() => {
      this.waiting.delete(unit.uri);
      this.session.background(this.push(unit));
    }, pushDelay);
    this.waiting.set(unit.uri, timer);
  }

  private async push(unit: TextUnit): Promise<void> {
    const settings = await this.session.configuration.of(unit.uri);
    await this.session.parserReady();
    if (this.session.documents.unitOf(unit.uri) !== unit) return;
    if (settings.run === "onSave" && this.unsaved.has(unit)) return;
    const found = this.diagnosticsByDocument(unit, settings);
    for (const { uri } of unit.segments) {
      const diagnostics = found.get(uri) ?? [];
      if (unit instanceof NotebookUnit) await this.pushCell(uri, diagnostics);
      else await this.session.connection.sendDiagnostics({ uri, version: unit.version, diagnostics });
    }
  }

  /** An edit in one of many cells says nothing new of most others. */
  private async pushCell(uri: string, diagnostics: Diagnostic[]): Promise<void> {
    const text = JSON.stringify(diagnostics);
    if (this.told.get(uri) === text) return;
    this.told.set(uri, text);
    await this.session.connection.sendDiagnostics({ uri, diagnostics });
  }

  /** What there is to say of a unit, by the addresses of its documents. */
  diagnosticsByDocument(unit: TextUnit, settings: Settings): Map<string, Diagnostic[]> {
    const outcome = this.session.analyses.of(unit, settings);
    const found = new Map<string, Diagnostic[]>();
    const add = (uri: string, diagnostic: Diagnostic): void => {
      const others = found.get(uri);
      if (others) others.push(diagnostic);
      else found.set(uri, [diagnostic]);
    };
    for (const note of notesOf(unit, settings, outcome)) add(note.uri, note.diagnostic);
    if (outcome.kind !== "analysed") return found;
    for (const finding of unit.typing.tellable(outcome.analysis.findings, unit.text)) {
      const place = unit.locate(finding.span);
      if (place) add(place.uri, this.diagnosticOf(unit, settings, finding, place.range));
    }
    return found;
  }

  private diagnosticOf(
    unit: TextUnit,
    settings: Settings,
    finding: Finding,
    range: Diagnostic["range"],
  ): Diagnostic {
    const { features } = this.session;
    const data: DiagnosticData = { version: unit.version, fixes: fixesOf(unit, settings, finding) };
    const href = features.codeDescription ? rulePageAddress(this.session, finding.rule, settings) : undefined;
    return {
      range,
      severity: severityOf(finding, settings),
      source: diagnosticSource,
      code: finding.rule,
      message: inLines(messageOf(unit, settings, finding)),
      ...(href === undefined ? {} : { codeDescription: { href } }),
      ...(features.relatedInformation ? { relatedInformation: relatedOf(unit, settings, finding) } : {}),
      ...(features.diagnosticData ? { data } : {}),
    };
  }
}

/** In a notebook that nobody has open the place says little: the cell is named. */
function messageOf(unit: TextUnit, settings: Settings, finding: Finding): string {
  const cell = unit instanceof DiskUnit ? unit.cellOf(finding.span) : undefined;
  if (cell === undefined) return textIn(settings, finding.message);
  return textIn(settings, message(editorMessages.inCell, { cell, message: finding.message }));
}

/** Tuning hints on correct code stay faint until the user turns the rule up. */
function severityOf({ level, rule }: Finding, settings: Settings): Diagnostic["severity"] {
  const isFaint = level === "information" && settings.levels[rule] === undefined;
  return isFaint ? severities.hint : severities[level];
}

/** Milliseconds; long enough for a burst of messages, too short to be felt. */
const pushDelay = 10;

/** The same for what an edit means for other open files: they are not being looked at. */
const importDelay = 150;

/** Milliseconds without an edit after which nobody types any more. */
const typingPause = 600;

/** Where a rule's page opens: inside the client if it says how, else the page itself. */
export function rulePageAddress(session: Session, rule: string, settings: Settings): string | undefined {
  const inClient = session.features.options.rulePage?.replaceAll("{rule}", rule);
  return inClient ?? session.host.rulePage(rule, settings.language);
}

function relatedOf(unit: TextUnit, settings: Settings, finding: Finding) {
  return finding.related.flatMap(({ span, message: text }) => {
    const place = unit.locate(span);
    return place === undefined ? [] : [{ location: place, message: textIn(settings, text) }];
  });
}

/** Limits are said, not silent. */
function notesOf(
  unit: TextUnit,
  settings: Settings,
  outcome: Outcome,
): { uri: string; diagnostic: Diagnostic }[] {
  const first = unit.segments[0];
  if (outcome.kind !== "too-large" || first === undefined) return [];
  const start = { line: 0, character: 0 };
  return [
    {
      uri: first.uri,
      diagnostic: {
        range: { start, end: start },
        severity: severities.information,
        source: diagnosticSource,
        message: textIn(settings, message(editorMessages.tooLarge)),
      },
    },
  ];
}
