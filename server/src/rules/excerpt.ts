/** Source text in messages. */
import type { Source } from "../python/source";
import type { Span } from "../python/tree";

const longest = 60;

/** The text of an expression on one line, cut where it is long. */
export function excerpt(source: Source, span: Span): string {
  const text = source.slice(span).replace(/\s+/g, " ");
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}
