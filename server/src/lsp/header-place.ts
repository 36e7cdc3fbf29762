/** Where in a `# vram:` comment the cursor stands. */
import { directiveComments, isInHead } from "../directives/comments";
import { headerKeys } from "../directives/keys";
import type { HeaderKey } from "../directives/keys";
import { keyAndValue, split, withAsciiPunctuation } from "../directives/split";
import type { ParsedModule } from "../python/parse";

export type HeaderPlace =
  /** A key is being written, from `start` to the cursor. */
  | { readonly kind: "key"; readonly start: number; readonly given: ReadonlySet<HeaderKey> }
  /** A value of a known key is being written. */
  | { readonly kind: "value"; readonly key: HeaderKey; readonly start: number; readonly written: string }
  /** A rule's name in the brackets of `ignore[…]` and its like. */
  | { readonly kind: "rule"; readonly start: number }
  /** The first word of a comment that is no header: `ignore`, `disable`. */
  | { readonly kind: "word"; readonly start: number; readonly isInHead: boolean };

/** `undefined` outside of our comments, and where nothing is known of what is written. */
export function headerPlaceAt(parsed: ParsedModule, offset: number): HeaderPlace | undefined {
  const { module, source } = parsed;
  const directive = directiveComments(module).find(
    ({ comment, body }) => body.start <= offset && source.lineOf(comment.start) === source.lineOf(offset),
  );
  if (directive === undefined) return undefined;
  const start = directive.body.start;
  const before = { text: withAsciiPunctuation(source.text.slice(start, offset)), start };
  const brackets = /^[a-z-]+\[(?:.*,)?\s*([\w-]*)$/i.exec(before.text);
  if (brackets && /^(ignore|ignore-file|disable|enable)\[/i.test(before.text)) {
    return { kind: "rule", start: offset - (brackets[1]?.length ?? 0) };
  }
  const inHead = isInHead(module, directive.start);
  const { pieces } = split(before, ",");
  const last = pieces[pieces.length - 1] ?? before;
  const isFirst = pieces.length <= 1;
  const { key, value } = keyAndValue(last);
  if (value === undefined) {
    if (!/^[A-Za-z_-]*$/.test(last.text)) return undefined;
    const at = offset - last.text.length;
    if (!inHead) return isFirst ? { kind: "word", start: at, isInHead: false } : undefined;
    const given = new Set(
      pieces.slice(0, -1).flatMap((piece) => knownKey(keyAndValue(piece).key.text) ?? []),
    );
    return { kind: "key", start: at, given };
  }
  const known = knownKey(key.text);
  if (!inHead || known === undefined) return undefined;
  return { kind: "value", key: known, start: offset - value.text.length, written: value.text };
}

function knownKey(text: string): HeaderKey | undefined {
  return headerKeys.find((key) => key === text.toLowerCase());
}
