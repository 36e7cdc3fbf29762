/** What the panel's page and the extension say to each other. Types only: both sides bundle this. */
import type { TimelineAnswer } from "../../../server/src/lsp/timeline-request";
import type { SetupChanges } from "../../../server/src/memory/what-if";
import type { PanelTexts } from "./texts";

/** What the page keeps over a reload, and what the serializer gets back. */
export interface PanelState {
  /** Of the script or the notebook. */
  readonly uri: string;
  readonly isPinned: boolean;
  readonly changes: SetupChanges;
}

export type ToPage =
  /** The first message, when the page is there. */
  | { readonly kind: "start"; readonly texts: PanelTexts; readonly language: string }
  /** What is shown: another file starts without changes. */
  | {
      readonly kind: "subject";
      readonly uri: string;
      readonly file: string;
      readonly isPinned: boolean;
      readonly changes: SetupChanges;
    }
  /** The text or the settings changed: ask again. */
  | { readonly kind: "stale" }
  | { readonly kind: "answer"; readonly serial: number; readonly answer: TimelineAnswer | null };

export type FromPage =
  | { readonly kind: "ready" }
  | {
      readonly kind: "ask";
      readonly serial: number;
      readonly uri: string;
      readonly changes: SetupChanges;
      readonly known?: string;
    }
  | { readonly kind: "open"; readonly uri: string; readonly line: number; readonly character: number }
  | { readonly kind: "pin"; readonly isPinned: boolean }
  /** `data` is the text of an SVG, or a PNG in base64. */
  | { readonly kind: "save"; readonly format: "svg" | "png"; readonly data: string }
  | { readonly kind: "insertHeader" };
