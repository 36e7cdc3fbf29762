/**
 * One training step of a model, traced: forward, loss and backward of a steady iteration, in which the output and the
 * loss of the one before are still referenced until they are overwritten, as in most scripts. Bytes throughout.
 *
 * The iteration before is not run where all that it leaves are its output and loss: those are as large as the ones that
 * the step itself makes, and are added afterwards.
 */
import type { AllocationLog, Bytes, LoggedStep } from "../allocation-log";
import { roundedUp } from "../allocation-log";
import type { Checkpointed, InputSpecification, Mode, ModelCall, Precision } from "../setup";
import type { Peak, TimelinePoint, Work } from "../tape";
import { dtypeBytes, elementCount, isAlone, isFloating, Tensor, type Dtype, type Storage } from "../tensor";
import { isUnknown, type Unknown } from "../unknown";
import { CallArguments } from "./arguments";
import { callOperator } from "./bridge";
import { getAttribute } from "./attributes";
import { CallRecorder } from "./call-records";
import { calledWith } from "./call-forms";
import { derivedTarget, isKnownLoss, lossOf, takesTarget } from "./losses";
import { isInTraining, trainModule } from "./nn/methods";
import { modulesOf, outermost, repeatedBlocks, tensorsOf } from "./nn/state";
import type { Program } from "./program";
import { isLimit } from "./reasons";
import type { OptimizerStep } from "./training/trace";
import { Heap, ObjectValue, TupleValue, type Value } from "./values";

export interface StepPlan {
  readonly batch: number;
  readonly inputs: readonly InputSpecification[];
  /** How the inputs are given; one after the other where it is absent. */
  readonly call?: ModelCall | undefined;
  readonly targets: readonly InputSpecification[];
  readonly loss: string;
  readonly precision: Precision;
  readonly mode: Mode;
  /** Which modules run as checkpointed segments although the code does not say so. */
  readonly checkpoint?: Checkpointed;
  /** A later micro-batch of several before the optimizer's step: the gradients of those before it are there already. */
  readonly accumulates?: boolean;
  /** The gradients of the iteration before are there until backward begins. */
  readonly clearsLate?: boolean | undefined;
  /** Whether the precision is what the script itself says; undefined where nobody says any. */
  readonly precisionIsScripts?: boolean | undefined;
  /** Ends after the loss: enough for what is saved. */
  readonly forwardOnly?: boolean;
}

/** What one step needs. Without `backward` the step ended before it: the reason is among the unknown parts. */
export interface StepMeasure {
  /** Kept by the graph once the loss is computed; states and inputs left out. */
  readonly saved: number;
  readonly inputs: number;
  readonly forward: Peak;
  readonly backward: Peak | undefined;
  readonly liveAfterForward: number;
  readonly liveAfterBackward: number;
  readonly allocatedAfterBackward: number;
  readonly gradients: number;
  /** The parameters that got one. */
  readonly stepped: readonly Tensor[];
  /** The steps of the script's optimizers within its own iteration, where that was run. */
  readonly steps?: readonly OptimizerStep[];
  /** Bytes of `steps`' optimizers that are among the live ones: what the script's own code keeps for each parameter. */
  readonly ownState?: { readonly name: string; readonly bytes: number };
  readonly timeline: readonly TimelinePoint[];
  readonly work: Work;
  /** Blocks that can be checkpointed one by one, and how many of them were. */
  readonly blocks: BlockCount;
  /** The calls of the forward; there with a timeline only. */
  readonly calls: CallRecorder | undefined;
  /** What it allocated and freed; absent where the step could not be followed to its end. */
  readonly log: LoggedStep | undefined;
  /** The target's shape was taken from the output. */
  readonly hasDerivedTarget: boolean;
  /** Why the step could not be followed to its end. */
  readonly fault: Unknown | undefined;
}

const lowPrecision: Readonly<Partial<Record<Precision, Dtype>>> = { fp16: "float16", bf16: "bfloat16" };
export const autocastPrecision: Readonly<Partial<Record<Precision, Dtype>>> = {
  "amp-fp16": "float16",
  "amp-bf16": "bfloat16",
};

/** `model.half()` or `model.to(bfloat16)` where the whole run is in low precision. */
export function castStates(program: Program, model: ObjectValue, precision: Precision): void {
  const dtype = lowPrecision[precision];
  if (dtype === undefined) return;
  program.execution.castStates(dtype, [...tensorsOf(model, "parameters"), ...tensorsOf(model, "buffers")]);
}

/** An input or target of the step at a micro-batch. */
function makeInput(program: Program, specification: InputSpecification, plan: StepPlan): Tensor {
  const shape = specification.dimensions.map(
    (dimension) => dimension.factor * (dimension.perSample ? plan.batch : 1),
  );
  const { dtype } = specification;
  const kind = isFloating(dtype) ? (lowPrecision[plan.precision] ?? dtype) : dtype;
  return program.execution.input(shape, kind, specification.bound);
}

function callArguments(program: Program, plan: StepPlan): CallArguments {
  if (plan.call !== undefined) {
    const inputs = plan.inputs.map((specification) => makeInput(program, specification, plan));
    return calledWith(program.interpreter, plan.call, inputs);
  }
  const positional: Value[] = [];
  const keywords = new Map<string, Value>();
  for (const specification of plan.inputs) {
    const tensor = makeInput(program, specification, plan);
    if (specification.name === undefined) positional.push(tensor);
    else keywords.set(specification.name, tensor);
  }
  return new CallArguments(positional, keywords);
}

/** Modules that a setup can checkpoint, as a count. */
export interface BlockCount {
  readonly count: number;
  readonly checkpointed: number;
  /** Of the blocks, where they are all of one class. */
  readonly className: string | undefined;
}

/**
 * The modules that a setup can checkpoint: the repeated blocks that lie in no other one, in the order of
 * `named_modules()`; where it names classes, all modules of those.
 */
export function blocksOf(model: ObjectValue, checkpoint: Checkpointed): readonly ObjectValue[] {
  if (typeof checkpoint === "object") {
    return modulesOf(model).filter(({ type }) => checkpoint.includes(type.name));
  }
  return outermost(model, new Set(repeatedBlocks(model)));
}

/** How many of the blocks, from the first on, run as checkpointed segments. */
export function checkpointedCount(blocks: readonly ObjectValue[], checkpoint: Checkpointed): number {
  if (checkpoint === "none") return 0;
  return typeof checkpoint === "number" ? Math.min(checkpoint, blocks.length) : blocks.length;
}

/** So many of the blocks run as checkpointed segments. */
export function blockCount(blocks: readonly ObjectValue[], checkpointed: number): BlockCount {
  const names = new Set(blocks.map(({ type }) => type.name));
  return { count: blocks.length, checkpointed, className: names.size === 1 ? [...names][0] : undefined };
}

/** Runs the step. The model must have been built by this program. */
export function runStep(
  program: Program,
  model: ObjectValue,
  plan: StepPlan,
  wantsTimeline = false,
): StepMeasure {
  if (trains(plan)) enterTraining(program, model);
  const later = laterMicroBatch(program, model, plan, wantsTimeline);
  if (later !== undefined) return later;
  program.execution.zeroGradients(tensorsOf(model, "parameters"));
  if (plan.accumulates === true && trains(plan)) runOnce(program, model, plan, false);
  return runOnce(program, model, plan, wantsTimeline);
}

/**
 * A later micro-batch on the gradients that the step before has left; undefined where they are not those that micro-batches
 * like this one would have left. A gradient is as large as its parameter whatever the micro-batch, so that only which
 * parameters got one has to be the same.
 */
function laterMicroBatch(
  program: Program,
  model: ObjectValue,
  plan: StepPlan,
  wantsTimeline: boolean,
): StepMeasure | undefined {
  if (plan.accumulates !== true || program.gradientsOf !== keyOf(plan) || program.leavesTraces)
    return undefined;
  const before = tensorsOf(model, "parameters").filter((tensor) => tensor.gradient !== undefined);
  if (!before.every(({ gradient }) => gradient === undefined || isWhole(gradient))) return undefined;
  const measure = runOnce(program, model, plan, wantsTimeline);
  const { reached } = program.execution;
  const isSame = measure.stepped.length === before.length && before.every((tensor) => reached.has(tensor));
  return measure.backward !== undefined && measure.fault === undefined && isSame ? measure : undefined;
}

/** On a storage that nobody else holds and that is no larger than it. */
function isWhole(tensor: Tensor): boolean {
  return isAlone(tensor) && tensor.storage.bytes === elementCount(tensor.shape) * dtypeBytes[tensor.dtype];
}

/** Plans of one key differ in the micro-batch and in whether gradients wait. */
function keyOf({ precision, loss, mode, checkpoint, inputs, call, targets }: StepPlan): string {
  return JSON.stringify([precision, loss, mode, checkpoint, inputs, call, targets]);
}

function runOnce(program: Program, model: ObjectValue, plan: StepPlan, wantsTimeline: boolean): StepMeasure {
  program.gradientsOf = undefined;
  if (trains(plan) && !program.leavesTraces) {
    const step = new Step(program, model, plan);
    const measure = step.run(wantsTimeline, false);
    program.leavesTraces = step.leavesTraces;
    // another run would come as far and take as long
    const isEndless = measure.fault !== undefined && isLimit(measure.fault.reason);
    if (isEndless || (measure.backward !== undefined && !step.leavesTraces)) {
      if (measure.fault === undefined) program.gradientsOf = keyOf(plan);
      return measure;
    }
    if (plan.accumulates !== true) program.execution.zeroGradients(tensorsOf(model, "parameters"));
  }
  return new Step(program, model, plan).run(wantsTimeline, trains(plan));
}

/**
 * `model.train()`, as a training loop calls it: a class may keep parts in evaluation mode there. Not where the constructor
 * has put parts into evaluation mode: whether the script undoes that is not known.
 */
function enterTraining(program: Program, model: ObjectValue): void {
  const { interpreter } = program;
  if (isInTraining(model) || modulesOf(model).some(({ module }) => module?.training === false)) return;
  const fault = interpreter.guard(() => {
    const mark = interpreter.references.mark();
    trainModule(interpreter, model, true, undefined);
    interpreter.references.releaseTo(mark);
  });
  if (isUnknown(fault)) interpreter.note(fault);
}

function trains(plan: StepPlan): boolean {
  return plan.mode === "train" && plan.loss !== "none" && plan.forwardOnly !== true;
}

type Writable<Shape> = { -readonly [Key in keyof Shape]: Shape[Key] };

/** Storages like those that the iteration before leaves until this one has its output, its loss, its target. */
interface Left {
  readonly output: readonly Storage[];
  readonly loss: readonly Storage[];
  readonly target: readonly Storage[];
}

const nothingLeft: Left = { output: [], loss: [], target: [] };

function sizeOf(storages: readonly Storage[]): Bytes {
  let [live, allocated] = [0, 0];
  for (const { bytes } of storages) {
    live += bytes;
    allocated += roundedUp(bytes);
  }
  return { live, allocated };
}

class Step {
  private readonly log: AllocationLog;
  private readonly args: CallArguments;
  private readonly parameters: readonly Tensor[];
  /** The last step has shown that the graph keeps tensors after backward. */
  private readonly keepsGraph: boolean;
  private targets: readonly Value[];
  private hasDerivedTarget = false;
  private readonly custom: Value | undefined;
  private readonly held: Value[] = [];
  private readonly blocks: BlockCount;
  private derived: Value = null;
  /** The forward until there is an output, once it is over. */
  private called: { readonly peak: Peak; readonly points: number; readonly events: number } | undefined;

  constructor(
    private readonly program: Program,
    private readonly model: ObjectValue,
    private readonly plan: StepPlan,
  ) {
    this.parameters = tensorsOf(model, "parameters");
    this.keepsGraph = program.interpreter.keptInGraph;
    this.log = program.execution.beginLog(plan.batch);
    this.args = callArguments(program, plan);
    this.targets = plan.targets.map((specification) => makeInput(program, specification, plan));
    const { interpreter } = program;
    interpreter.callSpan = undefined;
    const checkpoint = plan.checkpoint ?? "none";
    const blocks = blocksOf(model, checkpoint);
    const checkpointed = checkpointedCount(blocks, checkpoint);
    interpreter.checkpointed = new Set(blocks.slice(0, checkpointed));
    this.blocks = blockCount(blocks, checkpointed);
    this.custom = isKnownLoss(plan.loss) ? undefined : program.global(plan.loss);
  }

  /** `afterAnother`: the iteration before is run as well. */
  run(wantsTimeline: boolean, afterAnother: boolean): StepMeasure {
    const { execution, interpreter } = this.program;
    interpreter.wroteState = false;
    interpreter.keptInGraph = false;
    const inputs = execution.liveBytes().inputs;
    if (afterAnother) this.previousIteration();
    const timeline: TimelinePoint[] = [];
    if (wantsTimeline) execution.timeline = timeline;
    const calls = wantsTimeline ? new CallRecorder() : undefined;
    interpreter.recorder = calls;
    execution.phase = "forward";
    execution.takeWork();
    const { live, allocated } = this.program;
    const start = {
      live: live - this.log.live,
      allocated: allocated - this.log.allocated,
      events: this.log.events.length,
    };
    execution.startPeak();
    const loss = this.inAutocast(() => (this.plan.mode === "train" ? this.forward() : this.infer()));
    interpreter.recorder = undefined;
    const ended = execution.takePeak();
    const backwardMark = this.log.events.length;
    const left = afterAnother ? nothingLeft : this.left();
    if (!afterAnother) this.addTo(timeline, left);
    const result: Writable<StepMeasure> = {
      saved: execution.savedBytes,
      inputs,
      forward: this.own(this.steady(ended, left)),
      liveAfterForward: this.program.live,
      liveAfterBackward: this.program.live,
      allocatedAfterBackward: this.program.allocated,
      gradients: 0,
      stepped: [],
      timeline,
      work: { forward: 0, again: 0 },
      blocks: this.blocks,
      calls,
      log: undefined,
      hasDerivedTarget: this.hasDerivedTarget,
      backward: undefined,
      fault: isUnknown(loss) ? loss : undefined,
    };
    if (trains(this.plan) && loss instanceof Tensor) this.backward(loss, result);
    const waiting = this.waitingGradients();
    this.addGradients(waiting, result, timeline);
    if (result.fault === undefined) {
      const forward = start.events;
      result.log = {
        batch: this.plan.batch,
        log: this.log,
        base: { live: start.live, allocated: start.allocated },
        marks: {
          forward,
          loss: this.called?.events ?? forward,
          backward: backwardMark,
          end: this.log.events.length,
        },
        before: {
          forward: [...left.output, ...left.loss, ...left.target].map((storage) => this.log.index(storage)),
          loss: left.loss.map((storage) => this.log.index(storage)),
          gradients: waiting.map((storage) => this.log.index(storage)),
        },
      };
    }
    result.timeline = timeline.map((point) => this.program.ownPoint(point));
    result.work = execution.takeWork();
    this.finish();
    return result;
  }

  /** The step is over, and a tensor of it is still alive, or a module has other attributes than before. */
  get leavesTraces(): boolean {
    const { wroteState, keptInGraph } = this.program.interpreter;
    return this.log.alive > 0 || wroteState || keptInGraph;
  }

  private backward(loss: Tensor, result: Writable<StepMeasure>): void {
    const { execution, interpreter } = this.program;
    execution.phase = "backward";
    execution.reached.clear();
    execution.startPeak();
    const fault = interpreter.guard(() => execution.backward(loss));
    if (isUnknown(fault)) result.fault = fault;
    result.backward = this.own(execution.takePeak());
    result.liveAfterBackward = this.program.live;
    result.allocatedAfterBackward = this.program.allocated;
    result.gradients = execution.liveBytes().gradients;
    result.stepped = this.parameters.filter((tensor) => tensor.gradient !== undefined);
    if (this.graphHoldsMore()) interpreter.keptInGraph = true;
  }

  /**
   * Whether more of the step is alive than what was given to it, its output, its loss and what the model keeps: what the output holds of the graph
   * that the loss does not reach, which backward does not free, and gradients of tensors in the graph that are no parameters.
   */
  private graphHoldsMore(): boolean {
    const given = [...this.args.values(), ...this.targets];
    return (
      this.holdsMoreThan([...this.held, ...given]) && this.holdsMoreThan([...this.held, ...given, this.model])
    );
  }

  private holdsMoreThan(values: readonly Value[]): boolean {
    const known = new Set(values.flatMap((value) => [...this.storagesOf(value)]));
    return this.log.alive > [...known].filter(({ kind }) => kind !== "gradient").length;
  }

  /** Gradients like those of the iteration before, where it leaves them to this one's forward. */
  private waitingGradients(): readonly Storage[] {
    if (this.plan.clearsLate !== true || this.plan.accumulates === true) return [];
    const gradients = this.parameters.flatMap(({ gradient }) =>
      gradient === undefined ? [] : [gradient.storage],
    );
    return [...new Set(gradients)].filter((storage) => this.log.index(storage) >= 0);
  }

  private addGradients(
    waiting: readonly Storage[],
    result: Writable<StepMeasure>,
    timeline: readonly Writable<TimelinePoint>[],
  ): void {
    const { live, allocated } = sizeOf(waiting);
    const { forward } = result;
    result.forward = { ...forward, live: forward.live + live, allocated: forward.allocated + allocated };
    for (const point of timeline) {
      if (point.phase !== "forward") continue;
      point.gradients += live;
      point.allocated += allocated;
    }
  }

  /** What the iteration before still holds, seen in this one's output and loss. */
  private left(): Left {
    const [output, loss] = this.held.map((value) => this.ownStorages(value));
    const late = loss ?? new Set();
    return {
      output: [...(output ?? [])].filter((storage) => !late.has(storage)),
      loss: [...late],
      target: this.derived instanceof Tensor ? [this.derived.storage] : [],
    };
  }

  /** Activations that the step has made and that a value keeps alive. */
  private ownStorages(root: Value): Set<Storage> {
    return new Set([...this.storagesOf(root)].filter(({ kind }) => kind === "activation"));
  }

  /** Storages that the step has made and that a value keeps alive. */
  private storagesOf(root: Value): Set<Storage> {
    const found = new Set<Storage>();
    const seen = new Set<Value>([root]);
    for (const value of seen) {
      if (value instanceof Tensor) {
        if (this.log.index(value.storage) >= 0) found.add(value.storage);
      } else if (value instanceof Heap) {
        for (const inner of value.held()) seen.add(inner);
      }
    }
    return found;
  }

  /** The forward's peak with what the iteration before leaves on top: all of it until the output is replaced. */
  private steady(ended: Peak, left: Left): Peak {
    const first = this.called?.peak;
    if (first === undefined) return ended;
    const [early, late] = [sizeOf([...left.output, ...left.loss, ...left.target]), sizeOf(left.loss)];
    const called = { ...first, live: first.live + early.live, allocated: first.allocated + early.allocated };
    const lost = { ...ended, live: ended.live + late.live, allocated: ended.allocated + late.allocated };
    return {
      ...(lost.live > called.live ? lost : called),
      allocated: Math.max(called.allocated, lost.allocated),
    };
  }

  /** The same for the points of the forward, which are this step's own. */
  private addTo(points: readonly Writable<TimelinePoint>[], left: Left): void {
    const called = this.called?.points ?? 0;
    const [output, loss, target] = [sizeOf(left.output), sizeOf(left.loss), sizeOf(left.target)];
    points.forEach((point, index) => {
      point.temporary += loss.live;
      point.allocated += loss.allocated;
      if (index >= called) return;
      point.inputs += target.live;
      point.temporary += output.live;
      point.allocated += output.allocated + target.allocated;
    });
  }

  /** The peak without what the top level of the file left behind. */
  private own(peak: Peak): Peak {
    const { program } = this;
    return {
      ...peak,
      live: peak.live - program.baselineLive,
      allocated: peak.allocated - program.baselineAllocated,
    };
  }

  /** Leaves the output and the loss of the iteration before; of its graph only what users' own nodes keep. */
  private previousIteration(): void {
    const { execution, interpreter } = this.program;
    if (!this.keepsGraph) execution.pushGradMode(false);
    const loss = this.inAutocast(() => this.forward());
    if (!this.keepsGraph) execution.popGradMode();
    else if (loss instanceof Tensor) {
      interpreter.guard(() => execution.backward(loss));
      if (this.plan.accumulates !== true) execution.zeroGradients(this.parameters);
    }
  }

  /** `out = model(x); loss = criterion(out, y)`: the new values replace the old ones once they exist. */
  private forward(): Value {
    const output = this.replace(0, this.call());
    const { execution } = this.program;
    this.called = {
      peak: execution.takePeak(),
      points: execution.timeline?.length ?? 0,
      events: this.log.events.length,
    };
    execution.startPeak();
    const loss = this.replace(1, this.loss(output));
    // `compute_loss` returns the loss, and nothing else is left of the output before backward begins
    if (this.program.interpreter.isTrainers) for (const place of [0, 2]) this.replace(place, null);
    return loss;
  }

  /** Holds a value in place of what was held there. */
  private replace(place: number, value: Value): Value {
    const { references } = this.program.interpreter;
    references.retain(value);
    references.release(this.held[place] ?? null);
    this.held[place] = value;
    references.releaseTo(0);
    return value;
  }

  private infer(): Value {
    const { execution } = this.program;
    execution.pushGradMode(false);
    const output = this.call();
    execution.popGradMode();
    this.replace(0, output);
    return isUnknown(output) ? output : null;
  }

  private inAutocast(run: () => Value): Value {
    const { execution } = this.program;
    const dtype = autocastPrecision[this.plan.precision];
    if (dtype === undefined) return run();
    execution.pushAutocast({ enabled: true, dtype });
    const result = run();
    execution.popAutocast();
    return result;
  }

  private call(): Value {
    const { program, model, args, plan } = this;
    const method = plan.call?.method;
    if (method === undefined) return this.inSinglePrecision(program.call(model, args));
    const { interpreter } = program;
    const callee = interpreter.guard(() => getAttribute(interpreter, model, method, interpreter.callSpan));
    return isUnknown(callee) ? callee : program.call(callee, args);
  }

  /**
   * What a Trainer sees of the output: accelerate's `convert_outputs_to_fp32` copies what autocast has left in low precision.
   * The copies are held beside the output, and let go of at the same moment.
   */
  private inSinglePrecision(output: Value): Value {
    const { interpreter } = this.program;
    if (!interpreter.isTrainers || autocastPrecision[this.plan.precision] === undefined) return output;
    if (!(output instanceof ObjectValue)) return output;
    const tensors = [...output.attributes.values()].filter((value) => value instanceof Tensor);
    const low = tensors.filter(({ dtype }) => dtype === "float16" || dtype === "bfloat16");
    const copies = new TupleValue(low.map((tensor) => callOperator(interpreter, "Tensor.float", [tensor])));
    interpreter.references.retain(copies);
    this.held[2] = copies;
    return output;
  }

  private loss(output: Value): Value {
    const { interpreter } = this.program;
    if (this.plan.loss === "none") return null;
    return interpreter.guard(() =>
      lossOf(interpreter, this.plan.loss, this.custom, output, this.targetsFor(output)),
    );
  }

  /** The targets given, else the one that the loss takes with this output. */
  private targetsFor(output: Value): readonly Value[] {
    if (this.targets.length > 0 || !takesTarget(this.plan.loss)) return this.targets;
    const { execution, interpreter } = this.program;
    // a script has its targets before it calls the model
    const target = execution.unobserved(() => derivedTarget(interpreter, this.plan.loss, output));
    if (target === null) return [];
    this.hasDerivedTarget = true;
    this.derived = target;
    this.targets = [target];
    return this.targets;
  }

  /** Gives back what the step held, so that another can run on the same model. */
  private finish(): void {
    const { execution, interpreter } = this.program;
    for (const value of this.held) interpreter.references.release(value);
    for (const value of [...this.args.values(), ...this.targets]) interpreter.references.release(value);
    execution.phase = "setup";
    execution.timeline = undefined;
    execution.log = undefined;
    interpreter.checkpointed = new Set();
  }
}
