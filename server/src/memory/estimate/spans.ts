/** Spans without the tree that they came from. */
import type { Span } from "../../python/tree";

export function plainSpan(span: Span): Span;
export function plainSpan(span: Span | undefined): Span | undefined;
export function plainSpan(span: Span | undefined): Span | undefined {
  return span === undefined ? undefined : { start: span.start, end: span.end };
}
