/** What every request works with: the connection, what the client can do, the open units and their analyses. */
import type { Connection } from "vscode-languageserver";
import type { Analysis } from "../analysis";
import type { Message } from "../messages/message";
import { render } from "../messages/message";
import type { Analyses, Outcome } from "./analyses";
import type { ClientFeatures } from "./client-features";
import type { Configuration, Settings } from "./configuration";
import type { Documents } from "./documents";
import type { ServerHost } from "./host";
import type { TextUnit } from "./text-unit";

export interface Session {
  readonly connection: Connection;
  readonly host: ServerHost;
  readonly features: ClientFeatures;
  readonly configuration: Configuration;
  readonly documents: Documents;
  readonly analyses: Analyses;
  /** Settles when the parser can be used; rejects when it cannot be loaded. */
  parserReady(): Promise<void>;
  /** Lets something run that nobody waits for; a failure is logged. */
  background(work: Promise<unknown>): void;
}

/** An analysed document as a request sees it. */
export interface Analysed {
  readonly unit: TextUnit;
  readonly settings: Settings;
  readonly analysis: Analysis;
}

/** A document and what became of its analysis. */
export interface Answered {
  readonly unit: TextUnit;
  readonly settings: Settings;
  readonly outcome: Outcome;
}

/** What became of the unit that a document belongs to; `undefined` where none is open. */
export async function outcomeFor(session: Session, uri: string): Promise<Answered | undefined> {
  const before = session.documents.unitOf(uri);
  if (before === undefined) return undefined;
  const settings = await session.configuration.of(before.uri);
  await session.parserReady();
  // The document may have been closed or opened anew meanwhile.
  const unit = session.documents.unitOf(uri);
  return unit && { unit, settings, outcome: session.analyses.of(unit, settings) };
}

/** The current analysis of the unit that a document belongs to; `undefined` where there is none to answer from. */
export async function analysisFor(session: Session, uri: string): Promise<Analysed | undefined> {
  const answered = await outcomeFor(session, uri);
  if (answered?.outcome.kind !== "analysed") return undefined;
  const { unit, settings, outcome } = answered;
  return { unit, settings, analysis: outcome.analysis };
}

export function textIn(settings: Settings, message: Message): string {
  return render(message, settings.language);
}
