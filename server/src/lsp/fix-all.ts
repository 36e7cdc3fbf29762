/** All safe fixes of a unit, applied until nothing is left to apply. */
import type { TextEdit as ProtocolEdit, WorkspaceEdit } from "vscode-languageserver";
import { analyze } from "../analysis";
import { parseModule } from "../python/parse";
import { Source } from "../python/source";
import { applyEdits, safeEdits } from "../rules/fix";
import type { TextEdit } from "../rules/rule";
import { editWithin } from "./cell-edits";
import type { Settings } from "./configuration";
import type { TextUnit } from "./text-unit";

/** A fix may make room for another one; more rounds than this mean that two fixes undo each other. */
const mostRounds = 10;

/** `undefined` when there is nothing to fix. */
export function fixAll(unit: TextUnit, settings: Settings): WorkspaceEdit | undefined {
  const before = unit.segments.map(({ start, end }) => unit.writtenText.slice(start, end));
  let texts = before;
  for (let round = 0; round < mostRounds; round++) {
    const next = fixOnce(unit, texts, settings);
    if (next === undefined) break;
    texts = next;
  }
  const changes: Record<string, ProtocolEdit[]> = {};
  for (const [index, { uri }] of unit.segments.entries()) {
    const edit = smallestEdit(before[index] ?? "", texts[index] ?? "");
    if (edit) changes[uri] = [edit];
  }
  return Object.keys(changes).length === 0 ? undefined : { changes };
}

/** One round over the texts of the unit's documents; `undefined` when nothing changed. */
function fixOnce(unit: TextUnit, texts: readonly string[], settings: Settings): string[] | undefined {
  const whole = texts.join("\n");
  const parsed = parseModule(unit.forParser(texts));
  const edits = safeEdits(analyze(parsed, { levels: settings.levels }).findings);
  if (edits.length === 0) return undefined;
  let offset = 0;
  const fixed = texts.map((text) => {
    const start = offset;
    offset += text.length + 1;
    return applyEdits(text, editsWithin(edits, whole, start, start + text.length));
  });
  return fixed.some((text, index) => text !== texts[index]) ? fixed : undefined;
}

function editsWithin(edits: readonly TextEdit[], whole: string, start: number, end: number): TextEdit[] {
  return edits.flatMap((edit) => {
    const made = editWithin(whole, { start, end }, edit);
    return made === undefined ? [] : [{ start: made.start - start, end: made.end - start, text: made.text }];
  });
}

/** Replaces what lies between the common beginning and the common end. */
function smallestEdit(before: string, after: string): ProtocolEdit | undefined {
  if (before === after) return undefined;
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let tail = 0;
  while (tail < shorter - start && before[before.length - 1 - tail] === after[after.length - 1 - tail])
    tail += 1;
  // A position cannot lie inside of \r\n.
  if (before[start - 1] === "\r") start -= 1;
  if (tail > 0 && before[before.length - tail] === "\n" && before[before.length - tail - 1] === "\r")
    tail -= 1;
  const source = new Source(before);
  const position = (offset: number) => {
    const { line, column } = source.positionAt(offset);
    return { line, character: column };
  };
  return {
    range: { start: position(start), end: position(before.length - tail) },
    newText: after.slice(start, after.length - tail),
  };
}
