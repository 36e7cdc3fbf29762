/** All rows of the operator table. */
import type { OperatorRow } from "./operator";

export function operatorRows(): readonly OperatorRow[] {
  return [];
}
