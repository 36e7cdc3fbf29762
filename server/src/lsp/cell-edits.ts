/** Edits of a text that is put together from several documents, as edits of one of them. */
import type { TextEdit } from "../rules/rule";
import type { Span } from "../python/tree";

/**
 * The edit as one of the document that stands at `segment`, still with the offsets of the whole; `undefined` where it
 * reaches into another. The line end between two documents is neither's: a removal of a document's last line takes the
 * line end in front of it instead.
 */
export function editWithin(whole: string, { start, end }: Span, edit: TextEdit): TextEdit | undefined {
  if (edit.start < start || edit.end > end + 1) return undefined;
  if (edit.end <= end) return edit;
  if (edit.text.endsWith("\n")) return { ...edit, end, text: edit.text.slice(0, -1) };
  if (edit.text !== "") return undefined;
  const hasLineEnd = edit.start > start && whole[edit.start - 1] === "\n";
  return { start: hasLineEnd ? edit.start - 1 : edit.start, end, text: "" };
}
