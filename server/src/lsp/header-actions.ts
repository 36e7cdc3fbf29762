/**
 * Quick fixes of the budget header: inside it the largest micro-batch that fits and what would make the step fit; where the
 * model stands, the input or the command line that only a header can say.
 */
import { CodeActionKind } from "vscode-languageserver";
import type { CodeAction } from "vscode-languageserver";
import type { TrainingSetup } from "../memory/setup";
import { formatBytes } from "../memory/units";
import { headerHelpTexts as texts } from "../messages/header-help";
import { message } from "../messages/message";
import type { Message } from "../messages/message";
import type { TextEdit } from "../rules/rule";
import { isOverLimit } from "./fit-text";
import { exampleEntries, newHeaderPlace } from "./insert-header";
import { largestBatchOf } from "./largest-batch";
import { workspaceEdit } from "./protocol-text";
import { textIn } from "./session";
import type { Analysed } from "./session";

/** For a cursor in the header. What only the script gives is the script's to change. */
export function headerActions(analysed: Analysed): CodeAction[] {
  const { analysis } = analysed;
  const batch = largestBatchOf(analysis);
  const isSet = batch === undefined || batch === analysis.setup.batch?.value;
  const actions = isSet ? [] : batchAction(analysed, batch);
  const options = isOverLimit(analysis) ? (analysis.estimates.whatFits()?.options ?? []) : [];
  for (const { title, changes, bytes, fits } of options) {
    if (!fits) continue;
    const size = formatBytes(bytes);
    actions.push(...actionFor(analysed, changes, message(texts.setOption, { change: title, size })));
  }
  return actions;
}

/** Lines that say something of a model whose input is not known: its class, where it is made, where the input was lost. */
export function linesOfOpenInput({ analysis, unit }: Analysed): readonly number[] {
  const model = analysis.estimates.first();
  if (model === undefined || exampleEntries(analysis).length === 0) return [];
  const { source } = unit.parsed();
  const spans = [model.span, model.classSpan, ...model.unknown.map(({ span }) => span)];
  return spans.flatMap((span) => (span === undefined ? [] : [source.lineOf(span.start)]));
}

/** Writes an example of the input or of the command line into the header, or a header with it: for the user to change. */
export function exampleInputAction({ unit, analysis, settings }: Analysed): CodeAction[] {
  const { header } = analysis;
  const open = exampleEntries(analysis).filter(
    (example) =>
      example.startsWith("args=") || !header.entries.some(({ key }) => example.startsWith(`${key}=`)),
  );
  if (open.length === 0) return [];
  const entries = open.join(", ");
  const isCommandLine = entries.startsWith("args=");
  const last = header.comments.at(-1);
  const edits: TextEdit[] = [];
  if (last === undefined) {
    const { offset, before } = newHeaderPlace(unit.parsed(), unit.writtenText);
    edits.push({ start: offset, end: offset, text: `${before}# vram: ${entries}\n` });
  } else edits.push({ start: last.end, end: last.end, text: `\n# vram: ${entries}` });
  const edit = workspaceEdit(unit, edits);
  const title = textIn(settings, message(isCommandLine ? texts.setArguments : texts.setInput, { entries }));
  return edit === undefined ? [] : [{ title, kind: CodeActionKind.QuickFix, edit }];
}

/** In the script as well where the two agree on a number that stands there: else the header would contradict it. */
function batchAction(analysed: Analysed, batch: number): CodeAction[] {
  const { setup, script } = analysed.analysis;
  const literal = script.batch?.value === setup.batch?.value ? script.batch?.literal : undefined;
  const text = String(batch);
  return literal === undefined
    ? actionFor(analysed, { batch: text }, message(texts.setBatch, { batch }))
    : actionFor(analysed, { batch: text }, message(texts.setBatchInBoth, { batch }), [
        { start: literal.start, end: literal.end, text },
      ]);
}

/** `inScript`: what is changed of the code together with the header. */
function actionFor(
  { unit, analysis, settings }: Analysed,
  changes: Readonly<Record<string, string>>,
  title: Message,
  inScript: readonly TextEdit[] = [],
): CodeAction[] {
  const { header, setup } = analysis;
  const last = header.comments.at(-1);
  if (last === undefined) return [];
  const edits: TextEdit[] = [...inScript];
  const added: string[] = [];
  for (const [key, value] of Object.entries(changes)) {
    const span = header.entries.find((entry) => entry.key === key)?.valueSpan;
    if (span !== undefined) edits.push({ start: span.start, end: span.end, text: value });
    else if (isOpen(setup, key)) added.push(`, ${key}=${value}`);
    else return [];
  }
  if (added.length > 0) edits.push({ start: last.end, end: last.end, text: added.join("") });
  const edit = workspaceEdit(unit, edits);
  return edit === undefined ? [] : [{ title: textIn(settings, title), kind: CodeActionKind.QuickFix, edit }];
}

/** The script says nothing of it. */
function isOpen(setup: TrainingSetup, key: string): boolean {
  return !Object.entries(setup).some(([name, setting]) => name === key && setting !== undefined);
}
