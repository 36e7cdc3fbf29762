/**
 * Where the `# vram:` comments of a file are. One comment may also speak to other tools
 * (`# noqa: E501  # vram: ignore[…]`): only our section of it is read and rewritten.
 */
import type { Comment, Module, Span } from "../python/tree";

/** The span runs from the `#` of `# vram:` to the end of our section, without the white space behind it. */
export interface DirectiveComment extends Span {
  readonly comment: Comment;
  /** What stands after `# vram:`, without surrounding white space. */
  readonly body: Text;
  /** True when nothing but white space stands before it on its line. */
  readonly ownLine: boolean;
}

/** A piece of the source with the place where it begins. */
export interface Text {
  readonly text: string;
  readonly start: number;
}

const prefix = /#[ \t]*vram[ \t]*[:：]/i;
const sectionEnd = /[ \t]+#[ \t]*(?=\p{L})/u;

/** All `# vram:` comments in source order. A mention inside another comment's prose (own line) is none. */
export function directiveComments(module: Module): DirectiveComment[] {
  const found: DirectiveComment[] = [];
  for (const comment of module.comments) {
    const directive = directiveIn(comment);
    if (directive) found.push(directive);
  }
  return found;
}

function directiveIn(comment: Comment): DirectiveComment | undefined {
  const match = prefix.exec(comment.text);
  if (!match) return undefined;
  const isFirst = match.index === 0;
  const before = comment.text[match.index - 1];
  if (!isFirst && (comment.ownLine || (before !== " " && before !== "\t"))) return undefined;

  const bodyOffset = match.index + match[0].length;
  const rest = comment.text.slice(bodyOffset);
  const end = sectionEnd.exec(rest);
  const section = (end ? rest.slice(0, end.index) : rest).trimEnd();
  const body = trimmed({ text: section, start: comment.start + bodyOffset });
  return {
    start: comment.start + match.index,
    end: comment.start + bodyOffset + section.length,
    comment,
    body,
    ownLine: comment.ownLine && isFirst,
  };
}

/** The same piece without white space around it. */
export function trimmed(piece: Text): Text {
  const text = piece.text.trimStart();
  return { text: text.trimEnd(), start: piece.start + piece.text.length - text.length };
}

export function spanOf(piece: Text): Span {
  return { start: piece.start, end: piece.start + piece.text.length };
}

/** Part of a piece by offsets into it. */
export function part(piece: Text, from: number, to: number = piece.text.length): Text {
  return { text: piece.text.slice(from, to), start: piece.start + from };
}

/** True where the comments of the file's head stand: before the first statement that is not the docstring. */
export function isInHead(module: Module, offset: number): boolean {
  return offset < headEnd(module);
}

/** Where the first statement after shebang, encoding line, docstring and comments begins. */
export function headEnd(module: Module): number {
  const [first, second] = module.body;
  if (first === undefined) return Infinity;
  const isDocstring =
    first.kind === "ExpressionStatement" && first.expression.kind === "String" && !first.expression.isBytes;
  if (!isDocstring) return first.start;
  return second === undefined ? Infinity : second.start;
}
