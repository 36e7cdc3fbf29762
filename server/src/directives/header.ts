/**
 * Reads the budget header: the `# vram:` comments before a file's first statement. A mistake is reported on its exact
 * span and costs nothing but itself: all other entries count.
 */
import type { TrainingSetup } from "../memory/setup";
import { headerMessages as texts } from "../messages/directives";
import { message } from "../messages/message";
import { optionsOf } from "../python/command-options";
import type { ParsedModule } from "../python/parse";
import type { Source } from "../python/source";
import type { Module, Span } from "../python/tree";
import { directiveComments, isInHead, spanOf } from "./comments";
import type { DirectiveComment, Text } from "./comments";
import { makeFix, report, shown } from "./context";
import type { HeaderDiagnostic, ReadContext } from "./context";
import { headerExamples, headerKeys, keyMeanings, repeatableKeys } from "./keys";
import type { HeaderKey } from "./keys";
import { moduleNames } from "./names";
import { nearest } from "./nearest";
import { keyAndValue, split, splitAtKeys, withAsciiPunctuation } from "./split";
import { looksLikeSuppression } from "./suppression-syntax";
import { wholeNumber } from "./tensors";
import { readers } from "./values";

/** One `key=value` as it stands in the source, for hover and completion. */
export interface HeaderEntry extends Span {
  /** `undefined` for an unknown key and for the letters of dimensions (`T=128`). */
  readonly key: HeaderKey | undefined;
  readonly keySpan: Span;
  readonly valueSpan: Span | undefined;
}

export interface BudgetHeader {
  /** What could be read; every setting comes `from: "header"` with the span of its value. */
  readonly setup: TrainingSetup;
  readonly diagnostics: readonly HeaderDiagnostic[];
  readonly entries: readonly HeaderEntry[];
  /** The comments that make up the header, in source order; none when the file has no header. */
  readonly comments: readonly DirectiveComment[];
}

/** Never throws; a file without a header gives an empty setup. */
export function readHeader(parsed: ParsedModule): BudgetHeader {
  const { module, source } = parsed;
  const directives = directiveComments(module).filter(
    ({ body }) => body.text !== "" && !looksLikeSuppression(body),
  );
  if (directives.length === 0) return { setup: {}, diagnostics: [], entries: [], comments: [] };

  const diagnostics: HeaderDiagnostic[] = [];
  const comments: DirectiveComment[] = [];
  for (const directive of directives) {
    if (isInHead(module, directive.start)) comments.push(directive);
    else reportMisplaced(directive, diagnostics);
  }
  const drafts = comments.flatMap((comment) => draftsOf(comment, diagnostics));
  const letters = lettersOf(drafts);
  const context: ReadContext = {
    setup: {},
    names: moduleNames(parsed),
    options: () => optionsOf(module),
    letters,
    diagnostics,
  };
  readEntries(drafts, context, source);
  return {
    setup: context.setup,
    diagnostics: diagnostics.sort((a, b) => a.span.start - b.span.start || a.span.end - b.span.end),
    entries: drafts.map(entryOf),
    comments,
  };
}

/** True when the file could have a header at all: cheap, for whoever wants to offer one. */
export function hasHeader(module: Module): boolean {
  return directiveComments(module).some(
    ({ body, start }) => body.text !== "" && isInHead(module, start) && !looksLikeSuppression(body),
  );
}

/** An entry before its value is read. */
interface Draft {
  readonly whole: Text;
  readonly key: Text;
  readonly value: Text | undefined;
  readonly known: HeaderKey | undefined;
  /** The capital letter of `T=128`. */
  readonly letter: string | undefined;
  readonly previous: Text | undefined;
  readonly next: Text | undefined;
  readonly comment: DirectiveComment;
  /** A bracket without partner is reported itself; the value around it is not read. */
  readonly isBroken: boolean;
}

function draftsOf(comment: DirectiveComment, diagnostics: HeaderDiagnostic[]): Draft[] {
  const line = { text: withAsciiPunctuation(comment.body.text), start: comment.body.start };
  const { pieces, strayBracket } = split(line, ",");
  if (strayBracket !== undefined) {
    const span = { start: strayBracket, end: strayBracket + 1 };
    diagnostics.push({ span, message: message(texts.strayBracket) });
  }
  const filled = pieces
    .filter(({ text }) => text !== "")
    .flatMap((piece) => {
      const entries = splitAtKeys(piece, headerKeys);
      entries.slice(1).forEach((next, index) => reportMissingComma(entries[index], next, diagnostics));
      return entries;
    });
  return filled.map((whole, index) => {
    const { key, value } = keyAndValue(whole);
    const known = headerKeys.find((candidate) => candidate === key.text.toLowerCase());
    return {
      whole,
      key,
      value,
      known,
      letter: letterOf(key, value),
      previous: filled[index - 1],
      next: filled[index + 1],
      comment,
      isBroken:
        strayBracket !== undefined &&
        strayBracket >= whole.start &&
        strayBracket < whole.start + whole.text.length,
    };
  });
}

function reportMissingComma(previous: Text | undefined, next: Text, diagnostics: HeaderDiagnostic[]): void {
  const start = previous === undefined ? next.start : spanOf(previous).end;
  const title = message(texts.changeTo, { from: " ", to: ", " });
  const fix = makeFix(title, "review", [{ start, end: next.start, text: ", " }]);
  const { key } = keyAndValue(next);
  diagnostics.push({ span: spanOf(key), message: message(texts.missingComma, { key: key.text }), fix });
}

/** `T` for `T=128`; a single letter with anything but a number is a misspelt key. */
function letterOf(key: Text, value: Text | undefined): string | undefined {
  if (!/^[A-Za-z]$/.test(key.text) || value === undefined) return undefined;
  const isNumber = /^[\d_]+$/.test(value.text);
  return isNumber || key.text === key.text.toUpperCase() ? key.text.toUpperCase() : undefined;
}

function lettersOf(drafts: readonly Draft[]): Map<string, number> {
  const letters = new Map<string, number>();
  for (const { letter, value } of drafts) {
    const number = wholeNumber(value?.text ?? "");
    if (letter === undefined || letter === "B" || number === undefined || number < 1) continue;
    if (!letters.has(letter)) letters.set(letter, number);
  }
  return letters;
}

function readEntries(drafts: readonly Draft[], context: ReadContext, source: Source): void {
  const seen = new Map<string, Draft>();
  for (const draft of drafts) {
    const name = draft.known ?? draft.letter;
    if (name === undefined && draft.isBroken) continue;
    if (name === undefined) {
      reportUnknown(draft, context);
      continue;
    }
    if (name === "B") {
      report(context, draft.key, texts.batchLetter, {}, "batch");
      continue;
    }
    const first = seen.get(name);
    if (first !== undefined && !(draft.known !== undefined && repeatableKeys.has(draft.known))) {
      reportRepeated(draft, first, context, source);
      continue;
    }
    if (draft.value === undefined || draft.value.text === "") {
      const example = draft.known === undefined ? `${name}=128` : headerExamples[draft.known];
      report(context, draft.whole, texts.missingValue, { key: name, example }, colonForm(draft));
      continue;
    }
    seen.set(name, draft);
    if (draft.isBroken) continue;
    if (draft.known !== undefined) readers[draft.known](draft.value, context);
    else if (!context.letters.has(name)) {
      report(context, draft.value, texts.badInteger, { key: name, text: shown(draft.value.text) });
    }
  }
}

function reportUnknown(draft: Draft, context: ReadContext): void {
  const { whole, key, value } = draft;
  if (value === undefined) {
    if (isLooseMeasuredPoint(draft)) reportLooseMeasuredPoint(draft, context);
    else report(context, whole, texts.notAnEntry, { text: shown(whole.text) }, colonForm(draft));
    return;
  }
  const near = nearest(key.text.replace(/\s+/g, "_"), headerKeys, keyMeanings);
  if (near === undefined) {
    const at = key.text === "" ? whole : key;
    report(context, at, texts.unknownKey, { key: shown(key.text), keys: headerKeys.join(", ") });
  } else {
    report(context, key, texts.unknownKeyNearest, { key: shown(key.text), nearest: near }, near);
  }
}

/** `key=value` for `key: value` or `key value` with a key that exists. */
function colonForm({ whole }: Draft): string | undefined {
  const match = /^([A-Za-z_-]+)(?:\s*:\s*|\s+)(\S.*)$/.exec(whole.text);
  const key = match?.[1]?.toLowerCase();
  return match && headerKeys.some((candidate) => candidate === key) ? `${key}=${match[2]}` : undefined;
}

function isLooseMeasuredPoint(draft: Draft): boolean {
  return (
    /^\d+\s*:/.test(draft.whole.text) &&
    draft.previous !== undefined &&
    /measured|^\d+\s*:/i.test(draft.previous.text)
  );
}

function reportLooseMeasuredPoint({ whole, previous }: Draft, context: ReadContext): void {
  const start = (previous?.start ?? whole.start) + (previous?.text.length ?? 0);
  const title = message(texts.changeTo, { from: ", ", to: " " });
  const fix = makeFix(title, "review", [{ start, end: whole.start, text: " " }]);
  context.diagnostics.push({ span: spanOf(whole), message: message(texts.measuredByComma), fix });
}

function reportRepeated(draft: Draft, first: Draft, context: ReadContext, source: Source): void {
  const values = {
    key: draft.known ?? draft.letter ?? draft.key.text,
    first: shown(first.value?.text ?? ""),
  };
  const title = message(texts.removeEntry, { text: shown(draft.whole.text) });
  const fix = makeFix(title, "review", [{ ...removalOf(draft, source), text: "" }]);
  context.diagnostics.push({ span: spanOf(draft.whole), message: message(texts.repeatedKey, values), fix });
}

/** The entry with the comma that separates it; the whole line when it stands alone in its comment. */
function removalOf({ whole, previous, next, comment }: Draft, source: Source): Span {
  if (previous !== undefined)
    return { start: previous.start + previous.text.length, end: whole.start + whole.text.length };
  if (next !== undefined) return { start: whole.start, end: next.start };
  if (!comment.ownLine || comment.end !== comment.comment.end) return spanOf(whole);
  const line = source.lineOf(comment.start);
  return { start: source.lineStart(line), end: source.lineStart(line + 1) };
}

/** A comment further down that would be header: prose that merely begins so is left alone. */
function reportMisplaced(comment: DirectiveComment, diagnostics: HeaderDiagnostic[]): void {
  const line = { text: withAsciiPunctuation(comment.body.text), start: comment.body.start };
  const first = split(line, ",").pieces[0];
  const { key, value } = keyAndValue(first ?? line);
  const known = headerKeys.find((candidate) => candidate === key.text.toLowerCase());
  if (known === undefined || value === undefined) return;
  diagnostics.push({ span: spanOf(comment.body), message: message(texts.notInHead, { key: known }) });
}

function entryOf({ whole, key, value, known }: Draft): HeaderEntry {
  return {
    ...spanOf(whole),
    key: known,
    keySpan: spanOf(key),
    valueSpan: value === undefined ? undefined : spanOf(value),
  };
}
