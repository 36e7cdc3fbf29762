/** What the panel's parts show and may do. */
import type { PanelTexts } from "../src/panel/texts";
import type { SourcePlace, TimelineNothing, TimelineShown } from "../../server/src/lsp/timeline-request";
import type { SetupChanges } from "../../server/src/memory/what-if";
import type { Palette } from "./palette";

export interface View {
  readonly texts: PanelTexts;
  /** VS Code's, for figures. */
  readonly language: string;
  readonly palette: Palette;
  readonly uri: string;
  readonly file: string;
  readonly isPinned: boolean;
  readonly changes: SetupChanges;
  /** Undefined before the first answer; null for a file that is not open. */
  readonly answer: TimelineNothing | TimelineShown | null | undefined;
  readonly isTableShown: boolean;
}

export interface Actions {
  change(changes: SetupChanges): void;
  open(place: Pick<SourcePlace, "uri" | "line" | "character">): void;
  pin(isPinned: boolean): void;
  save(format: "svg" | "png"): void;
  insertHeader(): void;
  showTable(isShown: boolean): void;
}
