/** All rows of the table of modules. */
import type { ModuleRow } from "./module";

export function moduleRows(): readonly ModuleRow[] {
  return [];
}
