/** All rows of the table of modules. */
import { functionalModules } from "./functional";
import { layers } from "./layers";
import type { ModuleRow } from "./module";
import { normalisation } from "./normalisation";
import { recurrent } from "./recurrent";
import { transformers } from "./transformer";

export function moduleRows(): readonly ModuleRow[] {
  return [...layers, ...normalisation, ...functionalModules, ...recurrent, ...transformers];
}
