/**
 * The walk that turns a syntax tree into ours. It moves one cursor over the tree once and reads of every node only
 * what it needs: reading is most of the cost.
 */
import type { Comment, Expression, Invalid, Module, Name, Node, Span, Statement } from "./tree";
import { unordered } from "./tree";
import { ERROR_TYPE, type SyntaxCursor, type SyntaxTypes } from "./syntax";
import { forEachChild } from "./walk";

/**
 * Levels of our tree below the module. What lies deeper becomes `Invalid` without children, so that everybody above
 * may use ordinary recursion; nobody writes such code by hand.
 */
export const DEPTH_LIMIT = 400;

/** Lowers the tree whose root the cursor stands on. `text` is what was parsed. */
export function lowerModule(
  cursor: SyntaxCursor,
  text: string,
  types: SyntaxTypes,
  hasErrors: boolean,
): Module {
  const lowering = new Lowering(cursor, text, types, hasErrors);
  // A text that is all error has an error as its root.
  const body = cursor.nodeTypeId === ERROR_TYPE ? [lowering.errorNode()] : lowering.body();
  const module: Module = {
    kind: "Module",
    start: 0,
    end: text.length,
    order: unordered,
    parent: undefined,
    body,
    comments: lowering.comments,
    errors: lowering.errors,
    memos: new Map(),
    nodesBefore: undefined,
  };
  for (const statement of body) statement.parent = module;
  return module;
}

export interface ErrorMark {
  readonly errors: number;
  readonly salvaged: number | undefined;
}

/** The state of one walk and the moves that all handlers share. */
export class Lowering {
  readonly comments: Comment[] = [];
  readonly errors: Span[] = [];
  /** What could be read of the errors met inside the node that is being lowered; it becomes `Invalid` if there are. */
  salvaged: (Statement | Expression)[] | undefined;
  private depth = 0;

  constructor(
    readonly cursor: SyntaxCursor,
    readonly text: string,
    readonly types: SyntaxTypes,
    /** False spares looking for errors where nothing else is read. */
    readonly hasErrors: boolean,
  ) {}

  // --- Moves ------------------------------------------------------------------------------------------------------

  /** Moves to the first child that is no comment and no error and gives its type; 0, not moving, when there is none. */
  enter(): number {
    return this.cursor.gotoFirstChild() ? this.settle() : 0;
  }

  /** Moves to the next such sibling and gives its type; 0, back at the parent, when there is none. */
  next(): number {
    if (this.cursor.gotoNextSibling()) return this.settle();
    this.cursor.gotoParent();
    return 0;
  }

  private settle(): number {
    for (;;) {
      const type = this.cursor.nodeTypeId;
      if (type === this.types.comment) this.comments.push(this.commentHere());
      else if (type === ERROR_TYPE) this.salvage(this.errorNode());
      else if (type !== this.types.line_continuation) {
        if (this.hasErrors && this.cursor.nodeIsMissing) this.noteMissing();
        return type;
      }
      if (!this.cursor.gotoNextSibling()) {
        this.cursor.gotoParent();
        return 0;
      }
    }
  }

  get start(): number {
    return this.cursor.startIndex;
  }

  get end(): number {
    return this.cursor.endIndex;
  }

  /** The text of the node that the cursor stands on. */
  get nodeText(): string {
    return this.text.slice(this.cursor.startIndex, this.cursor.endIndex);
  }

  // --- Statements and expressions ---------------------------------------------------------------------------------

  /** The statements of the block or module that the cursor stands on; errors between them are `Invalid` statements. */
  body(): Statement[] {
    const statements: Statement[] = [];
    const outer = this.salvaged;
    this.salvaged = undefined;
    const handlers = this.types.statements;
    for (let type = this.enter(); ; type = this.next()) {
      if (this.isBroken) statements.push(...this.takeSalvaged().filter(isInvalid));
      if (type === 0) break;
      if (handlers[type] !== undefined) statements.push(this.statement(type));
      else if (this.types.expressions[type] !== undefined) statements.push(this.bareExpression(type));
    }
    this.salvaged = outer;
    return statements;
  }

  /** The statement of the given type that the cursor stands on. */
  statement(type: number): Statement {
    if (this.depth >= DEPTH_LIMIT) return this.cutOff();
    const handler = this.types.statements[type];
    if (handler === undefined) return this.unknown();
    const outer = this.salvaged;
    this.salvaged = undefined;
    this.depth++;
    const node = handler(this);
    this.depth--;
    const result = this.isBroken ? this.invalidate(node) : node;
    this.salvaged = outer;
    return result;
  }

  /** The expression of the given type that the cursor stands on. */
  expression(type: number): Expression {
    if (this.depth >= DEPTH_LIMIT) return this.cutOff();
    const handler = this.types.expressions[type];
    if (handler === undefined) return this.unknown();
    const outer = this.salvaged;
    this.salvaged = undefined;
    this.depth++;
    const node = handler(this);
    this.depth--;
    const result = this.isBroken ? this.invalidate(node) : node;
    this.salvaged = outer;
    return result;
  }

  /** The name that the cursor stands on. */
  name(): Name {
    const start = this.cursor.startIndex;
    const end = this.cursor.endIndex;
    return {
      kind: "Name",
      start,
      end,
      order: unordered,
      parent: undefined,
      id: identifierText(this.text.slice(start, end)),
    };
  }

  /** How many more levels the tree may get below the node that is being lowered. */
  get remainingDepth(): number {
    return DEPTH_LIMIT - this.depth;
  }

  private bareExpression(type: number): Statement {
    const expression = this.expression(type);
    const { start, end } = expression;
    const statement: Statement = {
      kind: "ExpressionStatement",
      start,
      end,
      order: unordered,
      parent: undefined,
      expression,
    };
    expression.parent = statement;
    return statement;
  }

  // --- Errors -----------------------------------------------------------------------------------------------------

  /** Whether an error was met in what is being lowered. */
  private get isBroken(): boolean {
    return this.salvaged !== undefined;
  }

  /** Marks the innermost statement or expression that is being lowered as invalid. */
  markInvalid(): void {
    this.salvaged ??= [];
  }

  /** Marks the same and keeps a node that has no place in it reachable. */
  salvage(node: Statement | Expression | undefined): void {
    this.salvaged ??= [];
    if (node !== undefined) this.salvaged.push(node);
  }

  /** How far errors have come, for `forgetErrors`. */
  get errorMark(): ErrorMark {
    return { errors: this.errors.length, salvaged: this.salvaged?.length };
  }

  /** Takes back the errors noted since, for what Python allows and the grammar does not know. */
  forgetErrors(mark: ErrorMark): void {
    this.errors.length = mark.errors;
    if (mark.salvaged === undefined) this.salvaged = undefined;
    else if (this.salvaged !== undefined) this.salvaged.length = mark.salvaged;
  }

  /** An `Invalid` with those of the children that were read. */
  invalid(start: number, end: number, children: readonly (Statement | Expression | undefined)[]): Invalid {
    const kept: (Statement | Expression)[] = [];
    const node: Invalid = {
      kind: "Invalid",
      start,
      end,
      order: unordered,
      parent: undefined,
      children: kept,
    };
    for (const child of children) {
      // What the parser made up to go on has no width.
      if (child === undefined || (child.kind === "Name" && child.start === child.end)) continue;
      child.parent = node;
      kept.push(child);
    }
    return node;
  }

  /** The error node that the cursor stands on, with what can be read inside it. */
  errorNode(): Invalid {
    const { startIndex: start, endIndex: end } = this.cursor;
    this.errors.push({ start, end });
    return this.invalid(start, end, this.readable());
  }

  /** A node that Python has no meaning for, or that the lowering does not know. */
  unknown(): Invalid {
    const { startIndex: start, endIndex: end } = this.cursor;
    return this.invalid(start, end, this.readable());
  }

  /** The same for the node so many levels above. */
  unknownAbove(levels: number): Invalid {
    for (let level = 0; level < levels; level++) this.cursor.gotoParent();
    return this.unknown();
  }

  /** All statements and expressions directly inside the node that the cursor stands on. */
  private readable(): (Statement | Expression)[] {
    const found: (Statement | Expression)[] = [];
    if (this.depth >= DEPTH_LIMIT) {
      this.collectExtras();
      return found;
    }
    const outer = this.salvaged;
    this.salvaged = undefined;
    this.depth++;
    for (let type = this.enter(); ; type = this.next()) {
      if (this.isBroken) found.push(...this.takeSalvaged());
      if (type === 0) break;
      if (this.types.statements[type] !== undefined) found.push(this.statement(type));
      else if (this.types.expressions[type] !== undefined) found.push(this.expression(type));
      else found.push(...this.readable());
    }
    this.depth--;
    this.salvaged = outer;
    return found;
  }

  /** Takes the place of a node that overlaps an error: its children without itself. */
  private invalidate(node: Statement | Expression): Invalid {
    const children: (Statement | Expression)[] = [];
    const collect = (child: Node): void => {
      if (child.kind !== "Module") children.push(child);
    };
    if (node.kind === "Name") children.push(node);
    else forEachChild(node, collect);
    children.push(...this.takeSalvaged());
    children.sort((one, other) => one.start - other.start);
    return this.invalid(node.start, node.end, children);
  }

  private takeSalvaged(): (Statement | Expression)[] {
    const salvaged = this.salvaged ?? [];
    this.salvaged = undefined;
    return salvaged;
  }

  private noteMissing(): void {
    const { startIndex: start, endIndex: end } = this.cursor;
    this.errors.push({ start, end });
    this.markInvalid();
  }

  private cutOff(): Invalid {
    const { startIndex: start, endIndex: end } = this.cursor;
    this.collectExtras();
    return this.invalid(start, end, []);
  }

  /** Notes comments and errors below the node that the cursor stands on, for subtrees that are not lowered. */
  collectExtras(): void {
    const cursor = this.cursor;
    const errorsBefore = this.errors.length;
    let level = 0;
    for (;;) {
      if (cursor.gotoFirstChild()) {
        level++;
      } else {
        while (level > 0 && !cursor.gotoNextSibling()) {
          cursor.gotoParent();
          level--;
        }
        if (level === 0) break;
      }
      const type = cursor.nodeTypeId;
      if (type === this.types.comment) this.comments.push(this.commentHere());
      else if (type === ERROR_TYPE || (this.hasErrors && cursor.nodeIsMissing)) {
        this.errors.push({ start: cursor.startIndex, end: cursor.endIndex });
      }
    }
    if (this.errors.length > errorsBefore) this.markInvalid();
  }

  private commentHere(): Comment {
    const { startIndex: start, endIndex: end } = this.cursor;
    // A comment stops before a line feed only, so a carriage return is still in it.
    const text = this.text.slice(start, end).replace(/\r+$/, "");
    return { start, end: start + text.length, text, ownLine: standsAlone(this.text, start) };
  }
}

function isInvalid(node: Node): node is Invalid {
  return node.kind === "Invalid";
}

function standsAlone(text: string, offset: number): boolean {
  for (let before = offset - 1; before >= 0; before--) {
    const unit = text.charCodeAt(before);
    if (unit === 10 || unit === 13) return true;
    if (unit !== 32 && unit !== 9 && unit !== 12 && unit !== 0xfeff) return false;
  }
  return true;
}

/** Python compares identifiers in Unicode's normal form KC. */
function identifierText(text: string): string {
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) > 127) return text.normalize("NFKC");
  }
  return text;
}
