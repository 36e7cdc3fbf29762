/**
 * The entrance to `memory/`: a module's classes and a training setup in, what they occupy out. Pure and bounded; the
 * unknown is listed, never counted as zero.
 */
import { unknownReasons } from "../messages/estimate";
import type { Message } from "../messages/message";
import type { Scopes } from "../python/scope";
import type { Module, Span } from "../python/tree";
import { Estimator } from "./estimate/model";
import type { FitAnswer } from "./fit";
import type { World } from "./evaluate/world";
import type { SettingOrigin, TrainingSetup } from "./setup";
import type { Dtype } from "./tensor";
import type { StepTimeline } from "./step-timeline";
import { ChangedSteps, type ChangedStep, type SetupChanges } from "./what-if";
import type { LiveBytes, TimelinePoint } from "./tape";

export interface UnknownPart {
  readonly span: Span | undefined;
  readonly reason: Message;
  /** Entries of a header that would say it, with sizes for the user to change, e.g. `input=float32[B,3,224,224]`. */
  readonly header?: readonly string[];
}

export interface Assumption {
  readonly key: string;
  readonly value: string;
  readonly from: SettingOrigin;
  readonly span?: Span;
}

/** A submodule and where the file makes it. */
export interface LayerEstimate {
  /** The statement that attaches it (`self.conv = nn.Conv2d(…)`), or inside a container the call that makes it. */
  readonly span: Span;
  /** E.g. `layer1.0.conv1`. */
  readonly modulePath: string;
  /** E.g. `Conv2d`. */
  readonly className: string;
  /** Numbers of the submodule's parameters, those of its own submodules included. */
  readonly parameters: number;
  /** How often its forward ran in the step, what it gave and what it made the graph keep; absent where it did not run. */
  readonly ran?: CallEstimate;
}

/** A call inside a forward, over all the times it ran in one step. */
export interface CallEstimate {
  readonly span: Span;
  readonly count: number;
  /** Bytes that the graph keeps because of it and did not keep before, all times together. */
  readonly saved: number;
  /** The different tensors that it gave; a few at most. */
  readonly outputs: readonly { readonly shape: readonly number[]; readonly dtype: Dtype }[];
}

/** Where the file says which model that is. */
export interface ModelPlace {
  /** As in `ModelEstimate`. */
  readonly span: Span;
  readonly classSpan: Span | undefined;
}

/** The graph that one batch builds in the trained model's forward when gradients are on. */
export interface BatchGraph {
  readonly model: ModelPlace;
  /** What it keeps; a lower bound unless `complete`. */
  readonly bytes: number;
  readonly batch: number;
  readonly complete: boolean;
  /** Usable bytes of the device, else the budget. */
  readonly limit: number | undefined;
  /** Whether the limit is the device's. */
  readonly isDevice: boolean;
  /** At most so many such graphs fit beside the model states. */
  readonly fitting: number | undefined;
}

/** What one of several models holds by itself. */
export interface ModelWeights extends ModelPlace {
  readonly parameters: { readonly bytes: number };
  readonly buffers: { readonly bytes: number };
  /** All parts of it are known. */
  readonly complete: boolean;
}

/** All figures in bytes unless said otherwise. With `complete` false every figure is a lower bound. */
export interface ModelEstimate extends ModelPlace {
  /** The class's name. */
  readonly name: string;
  /** The class definition's name, or the expression that instantiates the model. */
  readonly span: Span;
  /** The class of the file that was instantiated. */
  readonly classSpan: Span | undefined;
  readonly parameters: { readonly count: number; readonly bytes: number; readonly trainable: number };
  readonly buffers: { readonly bytes: number };
  readonly gradients: { readonly bytes: number };
  readonly optimizer: { readonly name: string; readonly bytes: number } | null;
  /** Offloaded states in the host's memory for each device, in bytes; every other figure is one device's. */
  readonly host?: number;
  /** `perSample` is what one more sample adds: another forward, run when it is read first. */
  readonly saved: { readonly bytes: number; readonly perSample: number } | null;
  readonly peak: {
    readonly bytes: number;
    readonly allocated: number;
    readonly phase: "forward" | "backward" | "step";
    /** Where the operator of the peak stands. */
    readonly span: Span | undefined;
    /** The operator, e.g. `convolution`, or the graph node in backward. */
    readonly operator?: string;
    /** Path of the module that ran, e.g. `layer1.0.conv1`. */
    readonly modulePath?: string;
  } | null;
  readonly complete: boolean;
  /**
   * Set when the model could not be built: `unknown` says why. Its figures are not known: those here are 0 and are not to be
   * shown.
   */
  readonly notBuilt?: true;
  /** The script's loop works with several models: these, and the figures are those of all of them together. */
  readonly models?: readonly ModelWeights[];
  /** Parts of the model could not be built: what they hold is in none of the figures. */
  readonly missesParts?: true;
  /** The class takes arguments: these are the figures of this instance of it, e.g. `resnet18().layer1.0`. */
  readonly example?: string;
  readonly unknown: readonly UnknownPart[];
  readonly assumptions: readonly Assumption[];
  /** Its submodules, in the order of `named_modules()`. */
  readonly layers?: readonly LayerEstimate[];
  /** Calls inside of forwards that gave tensors; empty where no step was simulated. */
  readonly calls?: readonly CallEstimate[];
}

/** The class could not be built because its constructor takes arguments that nobody gives. */
export function needsArguments({ notBuilt, unknown }: ModelEstimate): boolean {
  return notBuilt === true && unknown.some(({ reason }) => reason.text === unknownReasons.argumentsNeeded);
}

/** A training step as it unfolds: live bytes by kind after every operator, without what the optimizer's step adds. */
export type Timeline = readonly (TimelinePoint & LiveBytes)[];

export interface Estimates {
  /**
   * The estimate of the model that the header or the script trains, first; then of every other top-level `nn.Module`
   * class that can be built from constants and defaults. Computed on first use.
   */
  all(): readonly ModelEstimate[];
  /** The first of all, without the others. */
  first(): ModelEstimate | undefined;
  /** The estimate of one class definition by its name, if it can be built without arguments or was trained. */
  ofClass(name: string): ModelEstimate | undefined;
  /** The step of the trained model; empty when its input is not known. */
  timeline?(): Timeline;
  /** The same as one device lives through it, with the optimizer's step; undefined when its input is not known. */
  step?(): StepTimeline | undefined;
  /** The trained model's step under other choices; undefined without a model. */
  changed?(changes: SetupChanges): ChangedStep | undefined;
  /**
   * The graph of one batch of the trained model, in training or evaluation mode, without the loss. Undefined where header
   * and script leave open which model, input or micro-batch that is. Runs one forward; the step itself is not simulated for it.
   */
  batchGraph?(isTraining: boolean, batch?: number): BatchGraph | undefined;
  /**
   * The largest micro-batch whose step takes at most `limit` allocated bytes, by default the budget's or the device's.
   * Undefined without a limit, when nothing fits and when not all of the step is understood. Simulates further steps.
   */
  largestBatch(limit?: number): number | undefined;
  /** Whether another micro-batch would need another step; false where no step was simulated. */
  growsWithBatch?(): boolean;
  /** What would make the step fit, each change simulated. Undefined without a limit or an input. */
  whatFits(): FitAnswer | undefined;
}

/** What the header asks about and what follows from it. Null where there is neither budget nor device. */
export interface BudgetVerdict {
  readonly budget: number | undefined;
  readonly device: number | undefined;
  /** Bytes the training step needs: the peak where known, else the sum of the model states as a lower bound. */
  readonly needed: number;
  readonly isLowerBound: boolean;
  /** `fits` is only said of complete estimates with a peak. */
  readonly verdict: "fits" | "over-budget" | "over-device" | "unknown";
}

/** What the world does not give is not known. */
export function estimateModule(
  module: Module,
  _scopes: Scopes,
  setup: TrainingSetup,
  world: World = {},
): Estimates {
  const estimator = new Estimator(module, setup, world);
  const changed = new ChangedSteps(module, setup, estimator, world);
  return {
    all: () => estimator.all(),
    first: () => estimator.first(),
    ofClass: (name) => estimator.ofClass(name),
    timeline: () => estimator.timeline(),
    step: () => estimator.stepTimeline(),
    changed: (changes) => changed.with(changes),
    batchGraph: (isTraining, batch) => estimator.batchGraph(isTraining, batch),
    largestBatch: (limit) => estimator.largestBatch(limit),
    growsWithBatch: () => estimator.growsWithBatch(),
    whatFits: () => estimator.whatFits(),
  };
}
