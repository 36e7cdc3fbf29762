/** Our own request: the budget header that a script could have. */
import type { Position } from "vscode-languageserver";

export interface BudgetHeaderParams {
  readonly textDocument: { readonly uri: string };
}

export interface BudgetHeaderAnswer {
  /** The document it goes into: of a notebook its first cell. */
  readonly uri: string;
  readonly position: Position;
  /** In the protocol's snippet syntax. */
  readonly snippet: string;
}

/** Answers `null` where there is a header already. */
export const budgetHeaderMethod = "vramlint/budgetHeader";
