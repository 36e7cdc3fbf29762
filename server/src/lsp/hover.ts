/** What a model needs, over its class, the line that makes it and the header; what its layers and their calls do. */
import { MarkupKind } from "vscode-languageserver";
import type { Hover, HoverParams } from "vscode-languageserver";
import type { LayerEstimate, ModelEstimate, Timeline } from "../memory/estimate";
import type { Call, Span } from "../python/tree";
import { ancestors, nodeAtOffset } from "../python/walk";
import { classHeads } from "./class-heads";
import { fitMarkdown } from "./fit-text";
import { keyMarkdown } from "./key-help";
import { callMarkdown, layersMarkdown } from "./layer-text";
import { effectiveBatch, modelMarkdown } from "./model-text";
import type { TextContext } from "./model-text";
import { analysisFor } from "./session";
import type { Analysed, Session } from "./session";
import { timelineCommand } from "./timeline-request";

export async function hover(session: Session, params: HoverParams): Promise<Hover | undefined> {
  const analysed = await analysisFor(session, params.textDocument.uri);
  const offset = analysed?.unit.offsetAt(params.textDocument.uri, params.position);
  if (analysed === undefined || offset === undefined) return undefined;
  const link = timelineLink(session, analysed);
  const found =
    keyAt(analysed, offset) ??
    headerAt(analysed, offset, link) ??
    modelAt(analysed, offset, link) ??
    layersAt(analysed, offset) ??
    callAt(analysed, offset);
  const place = found && analysed.unit.locate(found.span);
  if (found === undefined || place === undefined) return undefined;
  const value = session.features.markdownHover ? found.markdown : withoutMarkdown(found.markdown);
  const kind = session.features.markdownHover ? MarkupKind.Markdown : MarkupKind.PlainText;
  return { contents: { kind, value }, range: place.range };
}

/** A link to the client's own command, for clients that have it: with others it would do nothing. */
function timelineLink({ features }: Session, { unit, analysis }: Analysed): string | undefined {
  if (!features.markdownHover || !features.options.commands.includes(timelineCommand)) return undefined;
  if ((analysis.estimates.all()[0]?.peak ?? null) === null) return undefined;
  const target = encodeURIComponent(JSON.stringify([unit.uri]));
  // Parentheses would end the link.
  return `command:${timelineCommand}?${target.replaceAll("(", "%28").replaceAll(")", "%29")}`;
}

interface Found {
  readonly span: Span;
  readonly markdown: string;
}

/** A key of the header, explained. */
function keyAt({ analysis, settings }: Analysed, offset: number): Found | undefined {
  const entry = analysis.header.entries.find(({ keySpan }) => contains(keySpan, offset));
  if (entry?.key === undefined) return undefined;
  return { span: entry.keySpan, markdown: keyMarkdown(entry.key, settings) };
}

function headerAt(analysed: Analysed, offset: number, timelineLink: string | undefined): Found | undefined {
  const { analysis, settings } = analysed;
  const comment = analysis.header.comments.find((candidate) => contains(candidate, offset));
  if (comment === undefined) return undefined;
  const model = analysis.estimates.all()[0];
  const markdown = model
    ? trainedMarkdown(analysed, model, timelineLink)
    : effectiveBatch(analysis.setup, settings.language);
  return markdown === undefined ? undefined : { span: comment, markdown };
}

/** The whole answer about the model that is trained. */
function trainedMarkdown(analysed: Analysed, model: ModelEstimate, timelineLink: string | undefined): string {
  const { analysis, settings } = analysed;
  return modelMarkdown(model, {
    ...textContext(analysed),
    temporary: temporaryAt(model.peak, analysis.estimates.timeline?.() ?? []),
    verdict: fitMarkdown(analysis, settings.language),
    effectiveBatch: effectiveBatch(analysis.setup, settings.language),
    timelineLink,
  });
}

/** What only running operators hold at the highest point of the peak's phase. */
function temporaryAt(peak: ModelEstimate["peak"], timeline: Timeline): number | undefined {
  let [highest, temporary] = [-1, 0];
  for (const point of timeline) {
    if (point.phase !== peak?.phase) continue;
    const { parameters, buffers, inputs, gradients, saved } = point;
    const live = parameters + buffers + inputs + gradients + saved + point.temporary;
    if (live > highest) [highest, temporary] = [live, point.temporary];
  }
  return highest < 0 ? undefined : temporary;
}

/** The layers that the innermost statement or call at the offset makes. */
function layersAt(analysed: Analysed, offset: number): Found | undefined {
  const { estimates, setup } = analysed.analysis;
  for (const model of estimates.all()) {
    const around = (model.layers ?? []).filter(({ span }) => contains(span, offset));
    const inner = smallest(around);
    if (inner === undefined) continue;
    const same: LayerEstimate[] = around.filter(
      ({ span }) => span.start === inner.start && span.end === inner.end,
    );
    const { language } = analysed.settings;
    return { span: inner, markdown: layersMarkdown(same, { language, setup, model }) };
  }
  return undefined;
}

/** The innermost call at the offset that ran in the trained model's forward. */
function callAt(analysed: Analysed, offset: number): Found | undefined {
  const { estimates, setup } = analysed.analysis;
  const model = estimates.all()[0];
  if (model === undefined) return undefined;
  const around = (model.calls ?? []).filter(({ span }) => contains(span, offset));
  const inner = smallest(around);
  const call = around.find(({ span }) => span === inner);
  if (call === undefined) return undefined;
  const { language } = analysed.settings;
  const written = shortened(analysed.unit.parsed().source.slice(call.span));
  return { span: call.span, markdown: callMarkdown(call, written, { language, setup, model }) };
}

function smallest(places: readonly { readonly span: Span }[]): Span | undefined {
  let found: Span | undefined;
  for (const { span } of places) {
    if (found === undefined || span.end - span.start < found.end - found.start) found = span;
  }
  return found;
}

/** Source text as it fits on one line between back ticks. */
function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").replaceAll("`", "'");
  return line.length <= 60 ? line : `${line.slice(0, 59)}…`;
}

function modelAt(analysed: Analysed, offset: number, timelineLink: string | undefined): Found | undefined {
  const { module, source } = analysed.unit.parsed();
  const { estimates } = analysed.analysis;
  const show = (model: ModelEstimate, span: Span): Found => ({
    span,
    markdown:
      model === estimates.all()[0]
        ? trainedMarkdown(analysed, model, timelineLink)
        : modelMarkdown(model, textContext(analysed)),
  });
  const head = classHeads(module, source.text).find(({ name }) => contains(name, offset));
  const ofClass = head && estimates.ofClass(head.definition.name.id);
  if (head !== undefined && ofClass !== undefined) return show(ofClass, head.name);
  const made = estimates.all().find(({ span }) => contains(span, offset));
  if (made !== undefined) return show(made, made.span);
  const call = callOfHeaderModel(analysed, offset);
  const trained = estimates.all()[0];
  return call && trained && show(trained, call);
}

/** A call in the script that makes just the model which the header names. */
function callOfHeaderModel({ unit, analysis }: Analysed, offset: number): Call | undefined {
  const wanted = analysis.setup.model?.value.text;
  if (wanted === undefined) return undefined;
  const { module, source } = unit.parsed();
  const node = nodeAtOffset(module, offset);
  const squeezed = (text: string): string => text.replace(/\s+/g, "");
  for (const candidate of [node, ...ancestors(node)]) {
    if (candidate.kind !== "Call") continue;
    if (squeezed(source.slice(candidate)) === squeezed(wanted)) return candidate;
  }
  return undefined;
}

export function textContext({ unit, settings, analysis }: Analysed): TextContext {
  return {
    language: settings.language,
    setup: analysis.setup,
    lineOf(span) {
      // Which cell of several it is in, a line's number does not say.
      if (unit.isInCells && unit.segments.length > 1) return undefined;
      const place = unit.locate(span);
      return place && place.range.start.line + 1;
    },
  };
}

function contains({ start, end }: Span, offset: number): boolean {
  return start <= offset && offset <= end;
}

/** For clients that show text as it is: tables as lines, no marks. */
function withoutMarkdown(markdown: string): string {
  return markdown
    .split("\n")
    .filter((line) => !/^\|[:|-]+$/.test(line))
    .map((line) =>
      line
        .replace(/^\| (.*) \|$/, "$1")
        .replace(/  $/, "")
        .replaceAll(" | ", ": ")
        .replaceAll(/\*\*|`/g, ""),
    )
    .join("\n");
}
