/** What a model's states occupy, behind its class; what the step needs, behind the budget header; where its peak is. */
import type { InlayHint, InlayHintParams } from "vscode-languageserver";
import { needsArguments } from "../memory/estimate";
import { classHeads } from "./class-heads";
import { textContext } from "./hover";
import { layerHints } from "./layer-hints";
import { headerHint, modelHint, modelMarkdown } from "./model-text";
import { hintTexts } from "../messages/editor";
import { message } from "../messages/message";
import { formatBytes } from "../memory/units";
import { analysisFor, textIn } from "./session";
import type { Analysed, Session } from "./session";

export async function inlayHints(session: Session, params: InlayHintParams): Promise<InlayHint[]> {
  const { uri } = params.textDocument;
  const analysed = await analysisFor(session, uri);
  if (analysed === undefined) return [];
  const { settings } = analysed;
  const hints: InlayHint[] = [];
  const place = ({ offset, label, tooltip }: PlacedHint): void => {
    const found = analysed.unit.locate({ start: offset, end: offset });
    if (found?.uri !== uri) return;
    const position = found.range.start;
    if (position.line < params.range.start.line || position.line > params.range.end.line) return;
    const content = session.features.markdownHover
      ? { tooltip: { kind: "markdown" as const, value: tooltip } }
      : {};
    hints.push({ position, label, paddingLeft: true, ...content });
  };
  if (settings.headerHint) headerHints(analysed).forEach(place);
  if (settings.modelHints) modelHints(analysed).forEach(place);
  if (settings.peakHint) peakHints(analysed).forEach(place);
  if (settings.layerHints) layerHints(analysed).forEach(place);
  return hints;
}

interface PlacedHint {
  readonly offset: number;
  readonly label: string;
  /** Markdown. */
  readonly tooltip: string;
}

function headerHints(analysed: Analysed): PlacedHint[] {
  const { comments } = analysed.analysis.header;
  const last = comments[comments.length - 1];
  if (last === undefined) return [];
  const model = analysed.analysis.estimates.all()[0];
  if (model === undefined) return [];
  const context = textContext(analysed);
  return [
    { offset: last.comment.end, label: headerHint(model, context), tooltip: modelMarkdown(model, context) },
  ];
}

/** Behind the line at which the trained model's step needs most. */
function peakHints(analysed: Analysed): PlacedHint[] {
  const model = analysed.analysis.estimates.all()[0];
  const span = model?.peak?.span;
  if (model === undefined || span === undefined || !model.complete) return [];
  const { source } = analysed.unit.parsed();
  const line = source.lineOf(span.start);
  const offset = source.lineStart(line) + source.lineText(line).trimEnd().length;
  const size = `≈ ${formatBytes(model.peak?.allocated ?? 0)}`;
  const label = textIn(analysed.settings, message(hintTexts.peakHere, { size }));
  return [{ offset, label, tooltip: modelMarkdown(model, textContext(analysed)) }];
}

function modelHints(analysed: Analysed): PlacedHint[] {
  const { module, source } = analysed.unit.parsed();
  const { estimates } = analysed.analysis;
  const context = textContext(analysed);
  return classHeads(module, source.text).flatMap(({ definition, end }) => {
    const model = estimates.ofClass(definition.name.id);
    // that a block takes arguments is nobody's news, and what one of its instances needs is not the class's size
    if (model === undefined || needsArguments(model) || model.example !== undefined) return [];
    return [{ offset: end, label: modelHint(model, context), tooltip: modelMarkdown(model, context) }];
  });
}
