/** What the lowering needs of a syntax tree: a cursor over it and the numbers of its node types. */
import type { Expression, Statement } from "./tree";
import type { Lowering } from "./lower";

/** Stands on one node of the syntax tree; offsets are UTF-16 code units. */
export interface SyntaxCursor {
  readonly nodeTypeId: number;
  readonly startIndex: number;
  readonly endIndex: number;
  readonly nodeIsMissing: boolean;
  gotoFirstChild(): boolean;
  gotoNextSibling(): boolean;
  gotoParent(): boolean;
}

/** Gives the number of a node type; `null` when the grammar has no such type. */
export interface Grammar {
  readonly nodeTypeCount: number;
  idForNodeType(type: string, named: boolean): number | null;
}

/** tree-sitter's number for what it could not parse. */
export const ERROR_TYPE = 65535;

/** The named node types that the lowering tells apart by number. */
const NAMED_TYPES = [
  "aliased_import",
  "argument_list",
  "as_pattern",
  "as_pattern_target",
  "assignment",
  "augmented_assignment",
  "block",
  "boolean_operator",
  "case_clause",
  "case_pattern",
  "class_definition",
  "class_pattern",
  "comment",
  "complex_pattern",
  "concatenated_string",
  "constrained_type",
  "decorator",
  "default_parameter",
  "dictionary_splat",
  "dictionary_splat_pattern",
  "dotted_name",
  "elif_clause",
  "else_clause",
  "except_clause",
  "expression_list",
  "finally_clause",
  "float",
  "for_in_clause",
  "format_expression",
  "format_specifier",
  "function_definition",
  "generator_expression",
  "generic_type",
  "identifier",
  "if_clause",
  "import_prefix",
  "integer",
  "interpolation",
  "keyword_argument",
  "keyword_pattern",
  "keyword_separator",
  "lambda_parameters",
  "line_continuation",
  "list_pattern",
  "list_splat",
  "list_splat_pattern",
  "pair",
  "parameters",
  "parenthesized_expression",
  "pattern_list",
  "positional_separator",
  "relative_import",
  "slice",
  "splat_pattern",
  "splat_type",
  "string",
  "string_content",
  "string_end",
  "string_start",
  "tuple",
  "tuple_pattern",
  "type",
  "type_conversion",
  "type_parameter",
  "typed_default_parameter",
  "typed_parameter",
  "union_pattern",
  "dict_pattern",
  "wildcard_import",
  "with_clause",
  "with_item",
] as const;

/** The tokens that the lowering tells apart by number. */
const TOKENS = {
  as: "as",
  async: "async",
  closeBrace: "}",
  colon: ":",
  comma: ",",
  equals: "=",
  from: "from",
  minus: "-",
  star: "*",
  doubleStar: "**",
  underscore: "_",
} as const;

export type TypeName = (typeof NAMED_TYPES)[number] | keyof typeof TOKENS;
export type StatementHandler = (lowering: Lowering) => Statement;
export type ExpressionHandler = (lowering: Lowering) => Expression;

/** Node types by number, resolved once per grammar. */
export interface SyntaxTypes extends Readonly<Record<TypeName, number>> {
  readonly statements: readonly (StatementHandler | undefined)[];
  readonly expressions: readonly (ExpressionHandler | undefined)[];
  /** The text of operator tokens: `+`, `+=`, `not in`, … */
  readonly operators: readonly (string | undefined)[];
}

export interface HandlerTables {
  readonly statements: Readonly<Record<string, StatementHandler>>;
  readonly expressions: Readonly<Record<string, ExpressionHandler>>;
  readonly operators: readonly string[];
}

/** A type the grammar lacks gets a number that no node has, so that a newer grammar does not break the older names. */
const ABSENT_TYPE = -1;

export function resolveTypes(grammar: Grammar, handlers: HandlerTables): SyntaxTypes {
  const ids = {} as Record<TypeName, number>;
  for (const name of NAMED_TYPES) ids[name] = grammar.idForNodeType(name, true) ?? ABSENT_TYPE;
  for (const [name, token] of Object.entries(TOKENS)) {
    ids[name as TypeName] = grammar.idForNodeType(token, false) ?? ABSENT_TYPE;
  }
  return {
    ...ids,
    statements: byNumber(grammar, handlers.statements),
    expressions: byNumber(grammar, handlers.expressions),
    operators: operatorsByNumber(grammar, handlers.operators),
  };
}

function byNumber<Handler>(
  grammar: Grammar,
  handlers: Readonly<Record<string, Handler>>,
): (Handler | undefined)[] {
  const table = new Array<Handler | undefined>(grammar.nodeTypeCount).fill(undefined);
  for (const [name, handler] of Object.entries(handlers)) {
    const id = grammar.idForNodeType(name, true);
    if (id !== null) table[id] = handler;
  }
  return table;
}

function operatorsByNumber(grammar: Grammar, operators: readonly string[]): (string | undefined)[] {
  const table = new Array<string | undefined>(grammar.nodeTypeCount).fill(undefined);
  for (const operator of operators) {
    const id = grammar.idForNodeType(operator, false);
    if (id !== null) table[id] = operator;
  }
  return table;
}
