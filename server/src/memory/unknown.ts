/** The honest answer: something was not understood, why, and where. Never counted as zero. */
import type { Message } from "../messages/message";
import type { Span } from "../python/tree";

export class Unknown {
  constructor(
    readonly reason: Message,
    readonly span: Span | undefined,
  ) {}
}

export function isUnknown(value: unknown): value is Unknown {
  return value instanceof Unknown;
}
