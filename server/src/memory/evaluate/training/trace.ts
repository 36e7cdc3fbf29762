/**
 * What happens to gradients while a script's own iteration is run: backwards, steps of optimizers, and the highest live
 * bytes of the phases between them. Bytes throughout.
 */
import type { Call, Span } from "../../../python/tree";
import type { Bytes } from "../../allocation-log";
import type { Location, Peak, TimelinePoint } from "../../tape";
import { Tensor, type Dtype, type Storage } from "../../tensor";
import type { Unknown } from "../../unknown";
import type { CallArguments } from "../arguments";
import type { Frame } from "../frame";
import type { Interpreter } from "../interpreter";
import { modulesOf, tensorsOf } from "../nn/state";
import type { ObjectValue, Value } from "../values";
import type { GivenData } from "./given-data";
import { groupsOf, parametersOf, type ParameterGroup } from "./groups";
import type { Labels } from "./labels";
import { reachableFrom } from "./placement";

/** An optimizer's step: which parameters it changed, and what was alive when it began. */
export interface OptimizerStep extends Bytes {
  readonly optimizer: ObjectValue;
  /** With the parameters that had a gradient; none where the script's own code is the step. */
  readonly groups: readonly ParameterGroup[];
  readonly location: Location;
  /** Points of the timeline before it. */
  readonly points: number;
}

/** Autocast around all forwards, as wrappers such as accelerate's turn it on. */
export type AmbientAutocast = Dtype | undefined;

export class TrainingTrace {
  /** Modules that code of the script has called, none of their submodules. */
  readonly used = new Set<ObjectValue>();
  /** Forwards of modules that are running. */
  forwards = 0;
  /** The frame that the training loop stands in. */
  loopFrame: Frame | undefined;
  /** Data that the script made before its loop: on the host until it is moved or computed with. */
  readonly waiting = new Set<Storage>();
  /** What the loop's loader has given and the script has not moved: it is on the host as well. */
  private readonly unmoved = new Set<Storage>();
  /** Modules that the script puts nowhere and trains nothing of. */
  private readonly unplaced = new Set<ObjectValue>();
  /** Set while a batch is made, before it is the loop's. */
  isMakingBatch = false;
  /** What the header says of the inputs; absent where the script's own are taken. */
  given: GivenData | undefined;
  /** The script turns autocast on by itself. */
  usesAutocast = false;
  /** Set where the setup says another precision than the script: its own regions do nothing. */
  ignoresAutocast = false;
  /** Labels that nobody knows anything of but which loss took them. */
  readonly labels = new Map<Unknown, Labels>();
  /** Micro-batches accumulate: gradients stay. */
  keepsGradients = false;
  ambient: AmbientAutocast;
  /** What the iterations have divided by: guards such as `i % 100 == 0` open at multiples of them. */
  readonly divisors = new Set<number>();
  /** A `step` of something that is not understood. */
  unknownStep: Unknown | undefined;

  forward: Peak | undefined;
  backwardPeak: Peak | undefined;
  saved = 0;
  gradients = 0;
  readonly steps: OptimizerStep[] = [];

  /** Inside a step that the script has written, and its highest bytes so far. */
  private isStepping = false;
  private ownStep: Peak | undefined;

  constructor(private readonly interpreter: Interpreter) {}

  /** The loop begins with these modules. */
  noteUnplaced(modules: Iterable<ObjectValue>): void {
    const { placed, optimizers } = this.interpreter;
    const trained = new Set([...optimizers].flatMap(parametersOf));
    for (const module of modules) {
      const isPlaced = modulesOf(module).some((part) => placed.has(part));
      const isTrained = tensorsOf(module, "parameters").some((tensor) => trained.has(tensor));
      if (!isPlaced && !isTrained) this.unplaced.add(module);
    }
  }

  /** An iteration begins with this batch. */
  noteBatch(batch: Value): void {
    this.unmoved.clear();
    if (!this.interpreter.namesGpu || this.unplaced.size === 0) return;
    for (const { storage } of reachableFrom([["", batch]]).tensors) this.unmoved.add(storage);
  }

  /** The script moves a tensor. */
  noteMove({ storage }: Tensor): void {
    this.unmoved.delete(storage);
  }

  /** A module that nobody puts on the GPU, called with a batch that nobody has moved there: both are on the host. */
  computesOnHost(module: ObjectValue, args: CallArguments): boolean {
    if (!this.unplaced.has(module)) return false;
    const [first] = args.positional;
    return first instanceof Tensor && this.unmoved.has(first.storage);
  }

  /** Runs the forward of a module. */
  inForward<Result>(module: ObjectValue, run: () => Result): Result {
    if (this.forwards === 0) this.used.add(module);
    this.forwards++;
    try {
      return run();
    } finally {
      this.forwards--;
    }
  }

  /** What is measured begins here. */
  begin(): void {
    this.forward = undefined;
    this.backwardPeak = undefined;
    this.saved = 0;
    this.gradients = 0;
    this.steps.length = 0;
    this.enterForward();
  }

  end(): void {
    this.leaveForward();
  }

  private enterForward(): void {
    const { execution } = this.interpreter;
    if (this.ambient !== undefined) execution.pushAutocast({ enabled: true, dtype: this.ambient });
    execution.phase = this.isStepping ? "step" : "forward";
    execution.startPeakAnew();
  }

  /** Whether calling the method of this name is a step that the script has written. */
  isOwnStep(receiver: ObjectValue, name: string): boolean {
    return name === "step" && receiver.type.node !== undefined && this.interpreter.optimizers.has(receiver);
  }

  /** Runs a step that Python code of the script is. */
  ownStepOf<Result>(optimizer: ObjectValue, span: Span | undefined, run: () => Result): Result {
    if (this.isStepping) return run();
    this.leaveForward();
    this.isStepping = true;
    this.ownStep = undefined;
    this.enterForward();
    try {
      return run();
    } finally {
      this.leaveForward();
      this.isStepping = false;
      const { live, allocated, location } = this.stepPeak(span);
      const points = this.interpreter.execution.timeline?.length ?? 0;
      this.steps.push({ optimizer, groups: [], live, allocated, location, points });
      this.interpreter.execution.timeline?.push(this.point(location));
      this.enterForward();
    }
  }

  private leaveForward(): void {
    const { execution } = this.interpreter;
    const peak = execution.takePeak();
    if (this.isStepping) this.ownStep = higher(this.ownStep, peak);
    else this.forward = higher(this.forward, peak);
    if (this.ambient !== undefined) execution.popAutocast();
  }

  backward(loss: Tensor, options: { gradient?: Tensor; retainGraph: boolean }): void {
    if (!loss.requiresGrad) return;
    const { execution } = this.interpreter;
    this.leaveForward();
    this.saved = Math.max(this.saved, execution.savedBytes);
    execution.phase = "backward";
    execution.startPeak();
    execution.backward(loss, options);
    this.backwardPeak = higher(this.backwardPeak, execution.takePeak());
    this.gradients = Math.max(this.gradients, execution.liveBytes().gradients);
    this.enterForward();
  }

  /** `zero_grad()` of an optimizer or a module. */
  zeroGradients(tensors: Iterable<Tensor>, setToNone = true): void {
    if (!this.keepsGradients) this.interpreter.execution.zeroGradients(tensors, setToNone);
  }

  /** An optimizer steps; `within` allocates what only this step's code knows of. */
  step(optimizer: ObjectValue, name: string, span: Span | undefined, within?: () => void): void {
    const { execution, modulePath } = this.interpreter;
    const groups = groupsOf(optimizer, optimizer.type.find((type) => type.path) ?? name)
      .map(({ tensors, setting }) => ({
        setting,
        tensors: tensors.filter(({ gradient }) => gradient !== undefined),
      }))
      .filter(({ tensors }) => tensors.length > 0);
    this.leaveForward();
    execution.phase = "step";
    execution.startPeak();
    within?.();
    const { live, allocated } = execution.takePeak();
    const points = execution.timeline?.length ?? 0;
    const location = { span: this.interpreter.ownSpan(span), modulePath };
    this.steps.push({ optimizer, groups, live, allocated, location, points });
    execution.timeline?.push(this.point(location));
    this.enterForward();
  }

  private stepPeak(span: Span | undefined): Pick<Peak, "live" | "allocated" | "location"> {
    const { execution } = this.interpreter;
    const { live, allocated } = execution;
    if (this.ownStep !== undefined && this.ownStep.live > 0) return this.ownStep;
    return { live, allocated, location: { span: this.interpreter.ownSpan(span), modulePath: "" } };
  }

  private point(location: Location): TimelinePoint {
    const { execution } = this.interpreter;
    const { allocated } = execution;
    const bytes = execution.liveBytes();
    return { phase: "step", operator: "optimizer.step", location, allocated, isRecomputed: false, ...bytes };
  }

  /** A method of something that is not understood is called. */
  unknownCall(node: Call, reason: Unknown): void {
    if (node.callee.kind !== "Attribute") return;
    const name = node.callee.attribute.id;
    if (name === "step") this.unknownStep ??= reason;
    if (name === "backward" || name === "manual_backward") this.interpreter.note(reason);
    // whatever it holds, no more than this stays
    if (name === "zero_grad") this.zeroGradients(this.interpreter.execution.parameters);
  }
}

function higher(one: Peak | undefined, other: Peak): Peak {
  if (one === undefined) return other;
  const allocated = Math.max(one.allocated, other.allocated);
  return { ...(other.live > one.live ? other : one), allocated };
}
