/** Walking the statements of a block. */
import type { Statement } from "../python/tree";
import { statementListsOf } from "../python/walk";

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
    const blocks = statementListsOf(statement);
    for (let block = blocks.length - 1; block >= 0; block--) {
      const statements = blocks[block] ?? [];
      for (let index = statements.length - 1; index >= 0; index--) {
        const inner = statements[index];
        if (inner) pending.push(inner);
      }
    }
  }
}
