/** Our plain results as the protocol's types. */
import { DiagnosticSeverity } from "vscode-languageserver";
import type { TextEdit as ProtocolEdit, WorkspaceEdit } from "vscode-languageserver";
import type { Level, TextEdit } from "../rules/rule";
import type { TextUnit } from "./text-unit";

export const severities: Readonly<Record<Level, DiagnosticSeverity>> = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  information: DiagnosticSeverity.Information,
  hint: DiagnosticSeverity.Hint,
};

/** Edits by document; `undefined` when one does not lie within one document (a statement over two notebook cells). */
export function workspaceEdit(unit: TextUnit, edits: readonly TextEdit[]): WorkspaceEdit | undefined {
  const changes: Record<string, ProtocolEdit[]> = {};
  for (const edit of edits) {
    const segment = unit.segments.find(({ start, end }) => start <= edit.start && edit.end <= end);
    const place = segment && unit.locate(edit);
    if (place === undefined) return undefined;
    (changes[place.uri] ??= []).push({ range: place.range, newText: edit.text });
  }
  return { changes };
}
