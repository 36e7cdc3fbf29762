/** A compact S-expression of our tree, for expectations that can be read. */
import type { ExceptHandler, Interpolation, Node, Parameter, Pattern } from "../../server/src/python/tree";

/**
 * Kinds in parentheses, names and literals bare, absent parts left out: `(Assign x (+ 1 y))`. Statement lists stand in
 * square brackets. Spans are not shown.
 */
export function printTree(node: Node): string {
  switch (node.kind) {
    case "Module":
      return node.body.map(printTree).join("\n");
    case "ExpressionStatement":
      return printTree(node.expression);
    case "Assign":
      return form("=", ...all(node.targets), printTree(node.value));
    case "AnnotatedAssign":
      return form(":=:", printTree(node.target), printTree(node.annotation), maybe(node.value));
    case "AugmentedAssign":
      return form(`${node.operator}=`, printTree(node.target), printTree(node.value));
    case "Return":
      return form("return", maybe(node.value));
    case "Delete":
      return form("del", ...all(node.targets));
    case "Raise":
      return form("raise", maybe(node.exception), labelled("from", node.cause));
    case "Assert":
      return form("assert", printTree(node.test), maybe(node.message));
    case "Global":
    case "Nonlocal":
      return form(node.kind.toLowerCase(), ...all(node.names));
    case "Pass":
    case "Break":
    case "Continue":
      return form(node.kind.toLowerCase());
    case "Import":
      return form("import", ...node.names.map(printImported));
    case "ImportFrom":
      return form("from", `${".".repeat(node.level)}${node.module}`, ...node.names.map(printImported));
    case "If":
      return form("if", printTree(node.test), block(node.body), elseBlock("else", node.orelse));
    case "For":
      return form(
        node.isAsync ? "async-for" : "for",
        printTree(node.target),
        printTree(node.iterable),
        block(node.body),
        elseBlock("else", node.orelse),
      );
    case "While":
      return form("while", printTree(node.test), block(node.body), elseBlock("else", node.orelse));
    case "With":
      return form(
        node.isAsync ? "async-with" : "with",
        ...node.items.map((item) =>
          item.target === undefined
            ? printTree(item.context)
            : form("as", printTree(item.context), printTree(item.target)),
        ),
        block(node.body),
      );
    case "Try":
      return form(
        "try",
        block(node.body),
        ...node.handlers.map(printHandler),
        elseBlock("else", node.orelse),
        elseBlock("finally", node.finally),
      );
    case "Match":
      return form(
        "match",
        printTree(node.subject),
        ...node.cases.map((matchCase) =>
          form(
            "case",
            printPattern(matchCase.pattern),
            labelled("if", matchCase.guard),
            block(matchCase.body),
          ),
        ),
      );
    case "FunctionDefinition":
      return form(
        node.isAsync ? "async-def" : "def",
        ...node.decorators.map((decorator) => `@${printTree(decorator.expression)}`),
        node.name.id,
        typeParameters(node.typeParameters),
        form("", ...node.parameters.map(printParameter)),
        labelled("->", node.returns),
        block(node.body),
      );
    case "ClassDefinition":
      return form(
        "class",
        ...node.decorators.map((decorator) => `@${printTree(decorator.expression)}`),
        node.name.id,
        typeParameters(node.typeParameters),
        form(
          "",
          ...all(node.bases),
          ...node.keywords.map((keyword) => `${keyword.name.id}=${printTree(keyword.value)}`),
        ),
        block(node.body),
      );
    case "TypeAlias":
      return form("type", node.name.id, typeParameters(node.typeParameters), printTree(node.value));
    case "Name":
      return node.id;
    case "Integer":
      return String(node.value);
    case "Float":
      return Number.isInteger(node.value) ? `${node.value}.0` : String(node.value);
    case "Complex":
      return "complex";
    case "Boolean":
      return node.value ? "True" : "False";
    case "None":
      return "None";
    case "Ellipsis":
      return "...";
    case "String":
      if (node.value !== undefined) return `${node.isBytes ? "b" : ""}${JSON.stringify(node.value)}`;
      return form("f", ...node.parts.map(printPart));
    case "Attribute":
      return form(".", printTree(node.object), node.attribute.id);
    case "Call":
      return form(
        "call",
        printTree(node.callee),
        ...all(node.positional),
        ...node.keywords.map((keyword) => `${keyword.name.id}=${printTree(keyword.value)}`),
        ...node.keywordSpreads.map((spread) => `**${printTree(spread)}`),
      );
    case "Subscript":
      return form("[]", printTree(node.object), printTree(node.index));
    case "Slice":
      return form(":", maybe(node.lower) || "_", maybe(node.upper) || "_", maybe(node.step));
    case "BinaryOperation":
      return form(node.operator, printTree(node.left), printTree(node.right));
    case "UnaryOperation":
      return form(node.operator, printTree(node.operand));
    case "BooleanOperation":
      return form(node.operator, ...all(node.operands));
    case "Comparison":
      return form(
        "compare",
        ...node.operands.flatMap((operand, index) => [printTree(operand), node.operators[index] ?? ""]),
      );
    case "Lambda":
      return form("lambda", form("", ...node.parameters.map(printParameter)), printTree(node.body));
    case "Conditional":
      return form("if-else", printTree(node.test), printTree(node.body), printTree(node.orelse));
    case "Tuple":
    case "List":
    case "Set":
      return form(node.kind.toLowerCase(), ...all(node.elements));
    case "Dict":
      return form(
        "dict",
        ...node.entries.map((entry) =>
          entry.key === undefined
            ? `**${printTree(entry.value)}`
            : `${printTree(entry.key)}:${printTree(entry.value)}`,
        ),
      );
    case "Comprehension":
      return form(
        `${node.flavour}-comp`,
        node.key === undefined
          ? printTree(node.element)
          : `${printTree(node.key)}:${printTree(node.element)}`,
        ...node.clauses.map((clause) =>
          form(
            clause.isAsync ? "async-for" : "for",
            printTree(clause.target),
            printTree(clause.iterable),
            ...clause.conditions.map((condition) => form("if", printTree(condition))),
          ),
        ),
      );
    case "Await":
      return form("await", printTree(node.value));
    case "Yield":
      return form(node.isFrom ? "yield-from" : "yield", maybe(node.value));
    case "Starred":
      return form("*", printTree(node.value));
    case "NamedExpression":
      return form(":=", node.target.id, printTree(node.value));
    case "Invalid":
      return form("INVALID", ...node.children.map(printTree));
  }
}

function form(head: string, ...parts: string[]): string {
  return `(${[head, ...parts].filter((part) => part !== "").join(" ")})`;
}

function all(nodes: readonly Node[]): string[] {
  return nodes.map(printTree);
}

function maybe(node: Node | undefined): string {
  return node === undefined ? "" : printTree(node);
}

function labelled(label: string, node: Node | undefined): string {
  return node === undefined ? "" : `${label} ${printTree(node)}`;
}

function block(statements: readonly Node[]): string {
  return `[${all(statements).join("; ")}]`;
}

function elseBlock(label: string, statements: readonly Node[]): string {
  return statements.length === 0 ? "" : `${label} ${block(statements)}`;
}

function typeParameters(names: readonly Node[]): string {
  return names.length === 0 ? "" : `<${all(names).join(" ")}>`;
}

function printImported(name: { readonly name: string; readonly alias: string | undefined }): string {
  return name.alias === undefined ? name.name : `${name.name}->${name.alias}`;
}

function printHandler(handler: ExceptHandler): string {
  return form(
    handler.isGroup ? "except*" : "except",
    maybe(handler.type),
    handler.name === undefined ? "" : `as ${handler.name.id}`,
    block(handler.body),
  );
}

const PARAMETER_MARKS = {
  "positional-only": "/",
  normal: "",
  "keyword-only": "!",
  args: "*",
  kwargs: "**",
} as const;

function printParameter(parameter: Parameter): string {
  const annotation = parameter.annotation === undefined ? "" : `:${printTree(parameter.annotation)}`;
  const value = parameter.default === undefined ? "" : `=${printTree(parameter.default)}`;
  return `${PARAMETER_MARKS[parameter.parameterKind]}${parameter.name.id}${annotation}${value}`;
}

function printPattern(pattern: Pattern): string {
  const parts = [
    pattern.irrefutable ? "always" : "",
    ...pattern.captures.map((name) => `>${name.id}`),
    ...pattern.reads.map((read) => (read === pattern.value ? `=${printTree(read)}` : printTree(read))),
  ];
  return form("", ...parts);
}

function printPart(part: string | Interpolation): string {
  if (typeof part === "string") return JSON.stringify(part);
  const conversion = part.conversion === "" ? "" : `!${part.conversion}`;
  const format = part.format === "" ? "" : `:${part.format}`;
  return `{${[`${printTree(part.expression)}${conversion}${format}`, ...part.formatFields.map(printPart)].join(" ")}}`;
}
