/** What a model needs, over its class or the line that makes it; over the header also the effective batch. */
import { MarkupKind } from "vscode-languageserver";
import type { Hover, HoverParams } from "vscode-languageserver";
import type { ModelEstimate } from "../memory/estimate";
import type { Call, Span } from "../python/tree";
import { ancestors, nodeAtOffset } from "../python/walk";
import { classHeads } from "./class-heads";
import { effectiveBatch, modelMarkdown } from "./model-text";
import type { TextContext } from "./model-text";
import { analysisFor } from "./session";
import type { Analysed, Session } from "./session";

export async function hover(session: Session, params: HoverParams): Promise<Hover | undefined> {
  const analysed = await analysisFor(session, params.textDocument.uri);
  const offset = analysed?.unit.offsetAt(params.textDocument.uri, params.position);
  if (analysed === undefined || offset === undefined) return undefined;
  const found = headerAt(analysed, offset) ?? modelAt(analysed, offset);
  const place = found && analysed.unit.locate(found.span);
  if (found === undefined || place === undefined) return undefined;
  const value = session.features.markdownHover ? found.markdown : withoutMarkdown(found.markdown);
  const kind = session.features.markdownHover ? MarkupKind.Markdown : MarkupKind.PlainText;
  return { contents: { kind, value }, range: place.range };
}

interface Found {
  readonly span: Span;
  readonly markdown: string;
}

function headerAt(analysed: Analysed, offset: number): Found | undefined {
  const { analysis, settings } = analysed;
  const comment = analysis.header.comments.find((candidate) => contains(candidate, offset));
  if (comment === undefined) return undefined;
  const model = analysis.estimates.all()[0];
  const parts = [
    effectiveBatch(analysis.setup, settings.language),
    model && modelMarkdown(model, textContext(analysed)),
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : { span: comment, markdown: parts.join("\n\n") };
}

function modelAt(analysed: Analysed, offset: number): Found | undefined {
  const { module, source } = analysed.unit.parsed();
  const { estimates } = analysed.analysis;
  const show = (model: ModelEstimate, span: Span): Found => ({
    span,
    markdown: modelMarkdown(model, textContext(analysed)),
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
        .replaceAll(" | ", ": ")
        .replaceAll(/\*\*|`/g, ""),
    )
    .join("\n");
}
