/** Above a model what its states occupy, above a training loop what a step needs. Off unless the settings want it. */
import type { CodeLens, CodeLensParams } from "vscode-languageserver";
import { needsArguments } from "../memory/estimate";
import { lensTexts } from "../messages/editor";
import { message } from "../messages/message";
import type { Span } from "../python/tree";
import { classHeads } from "./class-heads";
import { textContext } from "./hover";
import { headerHint, modelHint } from "./model-text";
import { analysisFor, textIn } from "./session";
import type { Analysed, Session } from "./session";
import { timelineCommand } from "./timeline-request";

export async function codeLenses(session: Session, params: CodeLensParams): Promise<CodeLens[]> {
  const { uri } = params.textDocument;
  const analysed = await analysisFor(session, uri);
  if (analysed?.settings.codeLens !== true) return [];
  const hasTimeline = session.features.options.commands.includes(timelineCommand);
  return [...modelLenses(analysed), ...loopLenses(analysed)].flatMap(({ span, title }) => {
    const place = analysed.unit.locate({ start: span.start, end: span.start });
    if (place?.uri !== uri) return [];
    const command = hasTimeline
      ? { title, command: timelineCommand, arguments: [analysed.unit.uri] }
      : { title, command: "" };
    return [{ range: place.range, command }];
  });
}

interface Lens {
  readonly span: Span;
  readonly title: string;
}

function modelLenses(analysed: Analysed): Lens[] {
  const { module, source } = analysed.unit.parsed();
  const context = textContext(analysed);
  return classHeads(module, source.text).flatMap(({ definition, name }) => {
    const model = analysed.analysis.estimates.ofClass(definition.name.id);
    if (model === undefined || needsArguments(model) || model.example !== undefined) return [];
    return [{ span: name, title: modelHint(model, context) }];
  });
}

/** The step is the trained model's: every loop that trains has the same one. */
function loopLenses(analysed: Analysed): Lens[] {
  const [model] = analysed.analysis.estimates.all();
  if (model === undefined || model.notBuilt === true) return [];
  const step = headerHint(model, textContext(analysed));
  const title = textIn(analysed.settings, message(lensTexts.step, { step }));
  return analysed.analysis.trainingLoops.map((span) => ({ span, title }));
}
