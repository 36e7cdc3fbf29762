/** Our plain results as the protocol's types. */
import { DiagnosticSeverity } from "vscode-languageserver";
import type { TextEdit as ProtocolEdit, WorkspaceEdit } from "vscode-languageserver";
import type { Level, TextEdit } from "../rules/rule";
import { editWithin } from "./cell-edits";
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
    const [made] = unit.segments.flatMap((segment) => editWithin(unit.text, segment, edit) ?? []);
    const place = made && unit.locate(made);
    if (made === undefined || place === undefined) return undefined;
    (changes[place.uri] ??= []).push({ range: place.range, newText: made.text });
  }
  return { changes };
}
