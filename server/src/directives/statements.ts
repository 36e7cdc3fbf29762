/** The blocks of statements inside a statement, in source order. */
import type { Statement } from "../python/tree";

export function blocksOf(statement: Statement): readonly (readonly Statement[])[] {
  switch (statement.kind) {
    case "If":
    case "For":
    case "While":
      return [statement.body, statement.orelse];
    case "With":
    case "FunctionDefinition":
    case "ClassDefinition":
      return [statement.body];
    case "Try":
      return [
        statement.body,
        ...statement.handlers.map(({ body }) => body),
        statement.orelse,
        statement.finally,
      ];
    case "Match":
      return statement.cases.map(({ body }) => body);
    default:
      return [];
  }
}

/** Every statement of a block and of the blocks inside it, in source order; `enter` may keep out of a statement. */
export function eachStatement(
  body: readonly Statement[],
  visit: (statement: Statement) => void,
  enter: (statement: Statement) => boolean = () => true,
): void {
  const pending: Statement[] = [...body].reverse();
  for (let statement = pending.pop(); statement !== undefined; statement = pending.pop()) {
    visit(statement);
    if (!enter(statement)) continue;
    const blocks = blocksOf(statement);
    for (let block = blocks.length - 1; block >= 0; block--) {
      const statements = blocks[block] ?? [];
      for (let index = statements.length - 1; index >= 0; index--) {
        const inner = statements[index];
        if (inner) pending.push(inner);
      }
    }
  }
}
