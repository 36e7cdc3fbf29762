/** Our own request: one training step as a timeline, as it is and under another setup. */
import type { MomentBytes } from "../memory/moment-bytes";
import type { Precision } from "../memory/setup";
import type { SetupChanges } from "../memory/what-if";

export interface TimelineParams {
  /** The script, the notebook or one of its cells. */
  readonly textDocument: { readonly uri: string };
  /** What the controls change. */
  readonly changes?: SetupChanges;
  /** The version of an answer that the client has: what it holds of the step as it is, is not sent again. */
  readonly known?: string;
}

/** Texts are in the language of the findings, bytes are those of one device. */
export type TimelineAnswer = TimelineNothing | TimelineSent;

/** There is no step to show, and why. */
export interface TimelineNothing {
  readonly kind: "nothing";
  readonly reasons: readonly Reason[];
  /** A budget header would say what is missing. */
  readonly needsHeader: boolean;
}

export interface TimelineShown {
  readonly kind: "shown";
  /** The model's class. */
  readonly model: string;
  /** Lines of the source that the moments name by index. */
  readonly places: readonly SourcePlace[];
  /** Of `now` and of what `places` begins with. */
  readonly version: string;
  /** As header and script say. */
  readonly now: StepAnswer;
  /** With the changes; null without any, and where they leave nothing to show. */
  readonly changed: StepAnswer | null;
  readonly budget: number | null;
  readonly device: { readonly bytes: number; readonly card: string | null } | null;
  readonly controls: Controls;
  readonly assumptions: readonly AssumptionText[];
  /** What simulating took. */
  readonly milliseconds: number;
}

/** As it travels: `now` is null where the client knows it. */
export interface TimelineSent extends Omit<TimelineShown, "now"> {
  readonly now: StepAnswer | null;
}

export interface SourcePlace {
  readonly uri: string;
  /** From 0. */
  readonly line: number;
  readonly character: number;
  /** The line's text, without the space around it. */
  readonly text: string;
}

export interface Reason {
  readonly text: string;
  readonly place: SourcePlace | null;
}

export interface StepAnswer {
  /** In the order in which they happen; of long steps the telling ones. */
  readonly moments: readonly Moment[];
  /** Of all moments, thinned out or not. */
  readonly count: number;
  /** Index of the peak in `moments`. */
  readonly peak: number;
  /** Bytes of the peak as PyTorch's allocator counts them: the sum of that moment. */
  readonly allocated: number;
  /** What the device shows for it; `most` is null for a lower bound. */
  readonly usage: { readonly least: number; readonly most: number | null };
  readonly parameters: number;
  readonly gradients: number;
  /** Null where it is not known. */
  readonly optimizer: number | null;
  /** Kept by the graph once the loss is computed, or as far as the forward could be followed. */
  readonly saved: number;
  /** Multiply-adds of the forward, and of what backward computes again; null where backward could not be followed. */
  readonly work: { readonly forward: number; readonly again: number } | null;
  /** Else every figure is "at least", for these reasons. */
  readonly complete: boolean;
  readonly reasons: readonly Reason[];
}

export interface Moment {
  /** Which of all moments it is, from 0. */
  readonly at: number;
  readonly phase: "forward" | "backward" | "step";
  /** As people know it: `conv2d`, `ConvolutionBackward0`, `optimizer.step`. */
  readonly operator: string;
  /** `blocks.0.conv1`; empty outside of modules. */
  readonly modulePath: string;
  /** The module's class, where the file makes it. */
  readonly layer: string;
  readonly place: number | null;
  readonly isRecomputed: boolean;
  readonly bytes: MomentBytes;
}

/** What can be changed from where; `unavailable` says why a control cannot be used. */
export interface Controls {
  readonly batch: { readonly value: number; readonly unavailable: string | null };
  readonly recompute: {
    /** Blocks that can be checkpointed, and how many of them are. */
    readonly count: number;
    readonly value: number;
    readonly className: string | null;
    readonly unavailable: string | null;
  };
  readonly precision: { readonly value: Precision; readonly choices: readonly Precision[] };
  readonly optimizer: {
    /** As the header writes it; empty when it is not known. */
    readonly value: string;
    readonly choices: readonly string[];
    readonly unavailable: string | null;
  };
}

export interface AssumptionText {
  readonly key: string;
  readonly value: string;
  /** "From the header". */
  readonly origin: string;
  readonly place: SourcePlace | null;
}

/** The client's own command that shows a timeline; its argument is the URI of the script or the notebook. */
export const timelineCommand = "vramlint.showTimeline";

/** Answers `null` for a document that is not open. */
export const timelineMethod = "vramlint/timeline";
