/** What bytes are for, as the picture shows it: order from the bottom, colour, pattern. */
import type { MomentKind } from "../../server/src/memory/moment-bytes";

/** What stays the same over the step lies below what comes and goes. */
export const stackedKinds = [
  "parameters",
  "buffers",
  "optimizer",
  "other",
  "inputs",
  "gradients",
  "saved",
  "temporary",
] as const satisfies readonly MomentKind[];

/**
 * Okabe and Ito's colours, which people with any colour vision tell apart (jfly.uni-koeln.de/color), and a grey for what
 * nobody can change. Neighbours in the stack differ in lightness too.
 */
export const kindColours: Readonly<Record<MomentKind, string>> = {
  parameters: "#0072B2",
  buffers: "#56B4E9",
  optimizer: "#CC79A7",
  other: "#8C8C8C",
  inputs: "#F0E442",
  gradients: "#D55E00",
  saved: "#009E73",
  temporary: "#E69F00",
};

export type Pattern = "none" | "right" | "left" | "cross" | "dots" | "across" | "down" | "grid";

/** In high contrast the bands differ by pattern as well. */
export const kindPatterns: Readonly<Record<MomentKind, Pattern>> = {
  parameters: "none",
  buffers: "dots",
  optimizer: "right",
  other: "grid",
  inputs: "across",
  gradients: "left",
  saved: "down",
  temporary: "cross",
};
