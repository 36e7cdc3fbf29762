/**
 * Our own Python tree: what every room above `python/` works on.
 *
 * Offsets are UTF-16 code units into the source text, `end` exclusive. Parentheses around an expression leave no node
 * of their own: the inner expression keeps its own span. What overlaps a syntax error becomes `Invalid`; its
 * neighbours stay usable. Names follow Python's own `ast` module where it has one, written out in full.
 */

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The `order` of nodes that nobody has counted: no file has so many. */
export const unordered = 0x3fff_ffff;

interface NodeBase extends Span {
  /** The node's place in `nodesOf` its module, from the first time on that somebody asks for all nodes. */
  order: number;
  /** The node that holds this one; `undefined` for the module only. Set by the lowering, never changed after it. */
  parent: Node | undefined;
}

export interface Comment extends Span {
  /** The text from `#` to the end of the line, without the line end. */
  readonly text: string;
  /** True when only white space stands before it on its line. */
  readonly ownLine: boolean;
}

export interface Module extends NodeBase {
  readonly kind: "Module";
  readonly body: Statement[];
  /** All comments in source order. */
  readonly comments: Comment[];
  /** Where the parser met what is not Python: error and missing nodes, in source order. */
  readonly errors: Span[];
  /** Kept by `FileMemo`. */
  readonly memos: Map<unknown, unknown>;
  /** All nodes of the tree that parts of this one were taken from, until the nodes of this one are listed (`nodesOf`). */
  nodesBefore: readonly Node[] | undefined;
}

// --- Statements ---------------------------------------------------------------------------------------------------

export interface ExpressionStatement extends NodeBase {
  readonly kind: "ExpressionStatement";
  readonly expression: Expression;
}

/** `a = b = value`: two targets, in source order. */
export interface Assign extends NodeBase {
  readonly kind: "Assign";
  readonly targets: Expression[];
  readonly value: Expression;
}

/** `target: annotation = value`. */
export interface AnnotatedAssign extends NodeBase {
  readonly kind: "AnnotatedAssign";
  readonly target: Expression;
  readonly annotation: Expression;
  readonly value: Expression | undefined;
}

/** `target += value`; `operator` is without the equals sign. */
export interface AugmentedAssign extends NodeBase {
  readonly kind: "AugmentedAssign";
  readonly target: Expression;
  readonly operator: BinaryOperator;
  readonly value: Expression;
}

export interface Return extends NodeBase {
  readonly kind: "Return";
  readonly value: Expression | undefined;
}

export interface Delete extends NodeBase {
  readonly kind: "Delete";
  readonly targets: Expression[];
}

export interface Raise extends NodeBase {
  readonly kind: "Raise";
  readonly exception: Expression | undefined;
  readonly cause: Expression | undefined;
}

export interface Assert extends NodeBase {
  readonly kind: "Assert";
  readonly test: Expression;
  readonly message: Expression | undefined;
}

export interface Global extends NodeBase {
  readonly kind: "Global";
  readonly names: Name[];
}

export interface Nonlocal extends NodeBase {
  readonly kind: "Nonlocal";
  readonly names: Name[];
}

export interface Pass extends NodeBase {
  readonly kind: "Pass";
}

export interface Break extends NodeBase {
  readonly kind: "Break";
}

export interface Continue extends NodeBase {
  readonly kind: "Continue";
}

/** One `a.b.c as d` or `x as y`. */
export interface ImportedName extends Span {
  /** Dotted for `import`, a single identifier for `from … import`, `*` for a star import. */
  readonly name: string;
  readonly alias: string | undefined;
}

export interface Import extends NodeBase {
  readonly kind: "Import";
  readonly names: ImportedName[];
}

/** `from ..module import name`: `level` counts the dots; `module` is `""` for `from . import x`. */
export interface ImportFrom extends NodeBase {
  readonly kind: "ImportFrom";
  readonly module: string;
  readonly level: number;
  readonly names: ImportedName[];
}

/** `elif` is an `If` alone in `orelse`. */
export interface If extends NodeBase {
  readonly kind: "If";
  readonly test: Expression;
  readonly body: Statement[];
  readonly orelse: Statement[];
}

export interface For extends NodeBase {
  readonly kind: "For";
  readonly isAsync: boolean;
  readonly target: Expression;
  readonly iterable: Expression;
  readonly body: Statement[];
  readonly orelse: Statement[];
}

export interface While extends NodeBase {
  readonly kind: "While";
  readonly test: Expression;
  readonly body: Statement[];
  readonly orelse: Statement[];
}

export interface WithItem extends Span {
  readonly context: Expression;
  readonly target: Expression | undefined;
}

export interface With extends NodeBase {
  readonly kind: "With";
  readonly isAsync: boolean;
  readonly items: WithItem[];
  readonly body: Statement[];
}

export interface ExceptHandler extends Span {
  /** `undefined` for a bare `except:`. */
  readonly type: Expression | undefined;
  readonly name: Name | undefined;
  /** True for `except*`. */
  readonly isGroup: boolean;
  readonly body: Statement[];
}

export interface Try extends NodeBase {
  readonly kind: "Try";
  readonly body: Statement[];
  readonly handlers: ExceptHandler[];
  readonly orelse: Statement[];
  readonly finally: Statement[];
}

export interface MatchCase extends Span {
  readonly pattern: Pattern;
  readonly guard: Expression | undefined;
  readonly body: Statement[];
}

/** Patterns are kept as far as anybody needs them: what they capture and what constants they compare with. */
export interface Pattern extends Span {
  /** Names the pattern binds. */
  readonly captures: Name[];
  /** The compared expression for a literal or value pattern, `undefined` for all others. */
  readonly value: Expression | undefined;
  /** True for `_` and a bare capture: always matches. */
  readonly irrefutable: boolean;
  /** Every expression the pattern reads, in source order: class names, value patterns, literals, mapping keys. */
  readonly reads: Expression[];
}

export interface Match extends NodeBase {
  readonly kind: "Match";
  readonly subject: Expression;
  readonly cases: MatchCase[];
}

export interface Decorator extends Span {
  readonly expression: Expression;
}

export type ParameterKind = "positional-only" | "normal" | "keyword-only" | "args" | "kwargs";

export interface Parameter extends Span {
  readonly name: Name;
  readonly parameterKind: ParameterKind;
  readonly annotation: Expression | undefined;
  readonly default: Expression | undefined;
}

export interface FunctionDefinition extends NodeBase {
  readonly kind: "FunctionDefinition";
  readonly isAsync: boolean;
  readonly name: Name;
  readonly decorators: Decorator[];
  readonly typeParameters: Name[];
  readonly parameters: Parameter[];
  readonly returns: Expression | undefined;
  readonly body: Statement[];
  /** Offset of `def` (or `async`): `start` is that of the first decorator, as in the source. */
  readonly definitionStart: number;
}

export interface ClassDefinition extends NodeBase {
  readonly kind: "ClassDefinition";
  readonly name: Name;
  readonly decorators: Decorator[];
  readonly typeParameters: Name[];
  readonly bases: Expression[];
  readonly keywords: KeywordArgument[];
  readonly body: Statement[];
  /** Offset of `class`. */
  readonly definitionStart: number;
}

/** `type Name = value`. */
export interface TypeAlias extends NodeBase {
  readonly kind: "TypeAlias";
  readonly name: Name;
  readonly typeParameters: Name[];
  readonly value: Expression;
}

// --- Expressions --------------------------------------------------------------------------------------------------

export interface Name extends NodeBase {
  readonly kind: "Name";
  readonly id: string;
}

export interface IntegerLiteral extends NodeBase {
  readonly kind: "Integer";
  /** May lose precision beyond 2^53: nothing in a training script is that large. */
  readonly value: number;
}

export interface FloatLiteral extends NodeBase {
  readonly kind: "Float";
  readonly value: number;
}

/** `3j`: kept so that nobody takes it for a number. */
export interface ComplexLiteral extends NodeBase {
  readonly kind: "Complex";
}

/** A string; neighbours that Python joins (`"a" "b"`) are one node. */
export interface StringLiteral extends NodeBase {
  readonly kind: "String";
  /** The text with escapes resolved; `undefined` when it has interpolations (f-strings, t-strings). */
  readonly value: string | undefined;
  readonly isBytes: boolean;
  /** For f-strings: literal text and interpolated expressions in order. Empty for plain strings. */
  readonly parts: (string | Interpolation)[];
}

export interface Interpolation extends Span {
  readonly expression: Expression;
  /** The format after `:`, as written; may hold nested fields. `""` when absent. */
  readonly format: string;
  /** `r`, `s`, `a` or `""`. */
  readonly conversion: string;
  /** The replacement fields nested in `format`. */
  readonly formatFields: Interpolation[];
}

export interface BooleanLiteral extends NodeBase {
  readonly kind: "Boolean";
  readonly value: boolean;
}

export interface NoneLiteral extends NodeBase {
  readonly kind: "None";
}

export interface EllipsisLiteral extends NodeBase {
  readonly kind: "Ellipsis";
}

export interface Attribute extends NodeBase {
  readonly kind: "Attribute";
  readonly object: Expression;
  /** The attribute's identifier, with its own span; a `Name` by shape, but it binds and reads nothing. */
  readonly attribute: Name;
}

export interface KeywordArgument extends Span {
  readonly name: Name;
  readonly value: Expression;
}

export interface Call extends NodeBase {
  readonly kind: "Call";
  readonly callee: Expression;
  /** Positional arguments; `*xs` is a `Starred`. */
  readonly positional: Expression[];
  readonly keywords: KeywordArgument[];
  /** The `**xs` arguments' expressions. */
  readonly keywordSpreads: Expression[];
  /** Span of the parenthesised argument list, brackets included; for a bare generator argument likewise. */
  readonly argumentList: Span;
}

export interface Subscript extends NodeBase {
  readonly kind: "Subscript";
  readonly object: Expression;
  /** `x[a, b]` has a `Tuple` here; `x[a:b]` a `Slice`. */
  readonly index: Expression;
}

export interface Slice extends NodeBase {
  readonly kind: "Slice";
  readonly lower: Expression | undefined;
  readonly upper: Expression | undefined;
  readonly step: Expression | undefined;
}

export type BinaryOperator = "+" | "-" | "*" | "/" | "//" | "%" | "**" | "@" | "|" | "&" | "^" | "<<" | ">>";

export interface BinaryOperation extends NodeBase {
  readonly kind: "BinaryOperation";
  readonly operator: BinaryOperator;
  readonly left: Expression;
  readonly right: Expression;
}

export interface UnaryOperation extends NodeBase {
  readonly kind: "UnaryOperation";
  readonly operator: "-" | "+" | "~" | "not";
  readonly operand: Expression;
}

/** `a and b and c` is one node with three operands where it was written without brackets. */
export interface BooleanOperation extends NodeBase {
  readonly kind: "BooleanOperation";
  readonly operator: "and" | "or";
  readonly operands: Expression[];
}

export type ComparisonOperator = "==" | "!=" | "<" | "<=" | ">" | ">=" | "is" | "is not" | "in" | "not in";

/** `a < b <= c`: `operands` has one more entry than `operators`. */
export interface Comparison extends NodeBase {
  readonly kind: "Comparison";
  readonly operands: Expression[];
  readonly operators: ComparisonOperator[];
}

export interface Lambda extends NodeBase {
  readonly kind: "Lambda";
  readonly parameters: Parameter[];
  readonly body: Expression;
}

/** `body if test else orelse`. */
export interface Conditional extends NodeBase {
  readonly kind: "Conditional";
  readonly test: Expression;
  readonly body: Expression;
  readonly orelse: Expression;
}

export interface Tuple extends NodeBase {
  readonly kind: "Tuple";
  readonly elements: Expression[];
}

export interface List extends NodeBase {
  readonly kind: "List";
  readonly elements: Expression[];
}

export interface SetDisplay extends NodeBase {
  readonly kind: "Set";
  readonly elements: Expression[];
}

export interface DictEntry extends Span {
  /** `undefined` for `**value`. */
  readonly key: Expression | undefined;
  readonly value: Expression;
}

export interface Dict extends NodeBase {
  readonly kind: "Dict";
  readonly entries: DictEntry[];
}

export interface ComprehensionClause extends Span {
  readonly isAsync: boolean;
  readonly target: Expression;
  readonly iterable: Expression;
  readonly conditions: Expression[];
}

export interface Comprehension extends NodeBase {
  readonly kind: "Comprehension";
  readonly flavour: "list" | "set" | "dict" | "generator";
  /** The element; for a dict comprehension the value. */
  readonly element: Expression;
  /** The key of a dict comprehension. */
  readonly key: Expression | undefined;
  readonly clauses: ComprehensionClause[];
}

export interface Await extends NodeBase {
  readonly kind: "Await";
  readonly value: Expression;
}

export interface Yield extends NodeBase {
  readonly kind: "Yield";
  readonly isFrom: boolean;
  readonly value: Expression | undefined;
}

/** `*value` in a call, a display or an assignment target. */
export interface Starred extends NodeBase {
  readonly kind: "Starred";
  readonly value: Expression;
}

/** `name := value`. */
export interface NamedExpression extends NodeBase {
  readonly kind: "NamedExpression";
  readonly target: Name;
  readonly value: Expression;
}

/** A statement or expression that overlaps a syntax error. Children that could be read stay reachable. */
export interface Invalid extends NodeBase {
  readonly kind: "Invalid";
  readonly children: (Statement | Expression)[];
}

export type Statement =
  | ExpressionStatement
  | Assign
  | AnnotatedAssign
  | AugmentedAssign
  | Return
  | Delete
  | Raise
  | Assert
  | Global
  | Nonlocal
  | Pass
  | Break
  | Continue
  | Import
  | ImportFrom
  | If
  | For
  | While
  | With
  | Try
  | Match
  | FunctionDefinition
  | ClassDefinition
  | TypeAlias
  | Invalid;

export type Expression =
  | Name
  | IntegerLiteral
  | FloatLiteral
  | ComplexLiteral
  | StringLiteral
  | BooleanLiteral
  | NoneLiteral
  | EllipsisLiteral
  | Attribute
  | Call
  | Subscript
  | Slice
  | BinaryOperation
  | UnaryOperation
  | BooleanOperation
  | Comparison
  | Lambda
  | Conditional
  | Tuple
  | List
  | SetDisplay
  | Dict
  | Comprehension
  | Await
  | Yield
  | Starred
  | NamedExpression
  | Invalid;

export type Node = Module | Statement | Expression;
export type NodeKind = Node["kind"];
export type NodeOfKind<Kind extends NodeKind> = Extract<Node, { kind: Kind }>;
