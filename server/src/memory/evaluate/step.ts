/**
 * One training step of a model, traced: forward, loss and backward of a steady iteration, in which the output and the
 * loss of the one before are still referenced until they are overwritten, as in most scripts. Bytes throughout.
 */
import type { Checkpointed, InputSpecification, Mode, Precision } from "../setup";
import type { Peak, TimelinePoint, Work } from "../tape";
import { isFloating, Tensor, type Dtype } from "../tensor";
import { isUnknown, type Unknown } from "../unknown";
import { CallArguments } from "./arguments";
import { CallRecorder } from "./call-records";
import { derivedTarget, isKnownLoss, lossOf, takesTarget } from "./losses";
import { namedModules, namedTensors, repeatedBlocks } from "./nn/state";
import type { Program } from "./program";
import type { ObjectValue, Value } from "./values";

export interface StepPlan {
  readonly batch: number;
  readonly inputs: readonly InputSpecification[];
  readonly targets: readonly InputSpecification[];
  readonly loss: string;
  readonly precision: Precision;
  readonly mode: Mode;
  /** Which modules run as checkpointed segments although the code does not say so. */
  readonly checkpoint?: Checkpointed;
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
  readonly timeline: readonly TimelinePoint[];
  readonly work: Work;
  /** Blocks that can be checkpointed one by one, and how many of them were. */
  readonly blocks: BlockCount;
  /** The calls of the forward; there with a timeline only. */
  readonly calls: CallRecorder | undefined;
  /** The target's shape was taken from the output. */
  readonly hasDerivedTarget: boolean;
  /** Why the step could not be followed to its end. */
  readonly fault: Unknown | undefined;
}

const lowPrecision: Readonly<Partial<Record<Precision, Dtype>>> = { fp16: "float16", bf16: "bfloat16" };
const autocastPrecision: Readonly<Partial<Record<Precision, Dtype>>> = {
  "amp-fp16": "float16",
  "amp-bf16": "bfloat16",
};

/** `model.half()` or `model.to(bfloat16)` where the whole run is in low precision. */
export function castStates(program: Program, model: ObjectValue, precision: Precision): void {
  const dtype = lowPrecision[precision];
  if (dtype === undefined) return;
  const held = [...namedTensors(model, "parameters"), ...namedTensors(model, "buffers")].map(
    (one) => one.tensor,
  );
  program.execution.castStates(dtype, held);
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
function blocksOf(model: ObjectValue, checkpoint: Checkpointed): readonly ObjectValue[] {
  if (typeof checkpoint === "object") {
    const named = namedModules(model).filter(({ module }) => checkpoint.includes(module.type.name));
    return named.map(({ module }) => module);
  }
  return outermost(model, new Set(repeatedBlocks(model)));
}

function outermost(model: ObjectValue, blocks: ReadonlySet<ObjectValue>): ObjectValue[] {
  const found: ObjectValue[] = [];
  let inside: string | undefined;
  for (const { path, module } of namedModules(model)) {
    if (inside !== undefined && path.startsWith(`${inside}.`)) continue;
    inside = blocks.has(module) ? path : undefined;
    if (inside !== undefined) found.push(module);
  }
  return found;
}

/** How many of the blocks, from the first on, run as checkpointed segments. */
function checkpointedCount(blocks: readonly ObjectValue[], checkpoint: Checkpointed): number {
  if (checkpoint === "none") return 0;
  return typeof checkpoint === "number" ? Math.min(checkpoint, blocks.length) : blocks.length;
}

/** Runs the step. The model must have been built by this program. */
export function runStep(
  program: Program,
  model: ObjectValue,
  plan: StepPlan,
  wantsTimeline = false,
): StepMeasure {
  return new Step(program, model, plan).run(wantsTimeline);
}

type Writable<Shape> = { -readonly [Key in keyof Shape]: Shape[Key] };

class Step {
  private readonly args: CallArguments;
  private readonly parameters: readonly Tensor[];
  private targets: readonly Value[];
  private hasDerivedTarget = false;
  private readonly custom: Value | undefined;
  private readonly held: Value[] = [];
  private readonly blocks: BlockCount;

  constructor(
    private readonly program: Program,
    private readonly model: ObjectValue,
    private readonly plan: StepPlan,
  ) {
    this.parameters = namedTensors(model, "parameters").map((one) => one.tensor);
    this.args = callArguments(program, plan);
    this.targets = plan.targets.map((specification) => makeInput(program, specification, plan));
    const { interpreter } = program;
    interpreter.callSpan = undefined;
    const checkpoint = plan.checkpoint ?? "none";
    const blocks = blocksOf(model, checkpoint);
    const checkpointed = checkpointedCount(blocks, checkpoint);
    interpreter.checkpointed = new Set(blocks.slice(0, checkpointed));
    const names = new Set(blocks.map(({ type }) => type.name));
    const className = names.size === 1 ? [...names][0] : undefined;
    this.blocks = { count: blocks.length, checkpointed, className };
    this.custom = isKnownLoss(plan.loss) ? undefined : program.global(plan.loss);
  }

  run(wantsTimeline: boolean): StepMeasure {
    const { execution, interpreter } = this.program;
    execution.zeroGradients(this.parameters);
    const inputs = execution.liveBytes().inputs;
    const trains = this.plan.mode === "train" && this.plan.loss !== "none" && this.plan.forwardOnly !== true;
    if (trains) this.previousIteration();
    const timeline: TimelinePoint[] = [];
    if (wantsTimeline) execution.timeline = timeline;
    const calls = wantsTimeline ? new CallRecorder() : undefined;
    interpreter.recorder = calls;
    execution.phase = "forward";
    execution.takeWork();
    execution.startPeak();
    const loss = this.inAutocast(() => (this.plan.mode === "train" ? this.forward() : this.infer()));
    interpreter.recorder = undefined;
    const forward = this.own(execution.takePeak());
    const saved = execution.savedBytes;
    const liveAfterForward = this.program.live;
    const result: Writable<StepMeasure> = {
      saved,
      inputs,
      forward,
      liveAfterForward,
      liveAfterBackward: liveAfterForward,
      allocatedAfterBackward: this.program.allocated,
      gradients: 0,
      stepped: [],
      timeline,
      work: { forward: 0, again: 0 },
      blocks: this.blocks,
      calls,
      hasDerivedTarget: this.hasDerivedTarget,
      backward: undefined,
      fault: isUnknown(loss) ? loss : undefined,
    };
    if (trains && loss instanceof Tensor) {
      execution.phase = "backward";
      execution.startPeak();
      const fault = interpreter.guard(() => execution.backward(loss));
      if (isUnknown(fault)) result.fault = fault;
      result.backward = this.own(execution.takePeak());
      result.liveAfterBackward = this.program.live;
      result.allocatedAfterBackward = this.program.allocated;
      result.gradients = execution.liveBytes().gradients;
      result.stepped = this.parameters.filter((tensor) => tensor.gradient !== undefined);
    }
    result.timeline = timeline.map((point) => this.program.ownPoint(point));
    result.work = execution.takeWork();
    this.finish();
    return result;
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

  /** Leaves the output and the loss of the iteration before, whose graph is gone. */
  private previousIteration(): void {
    const { execution } = this.program;
    execution.pushGradMode(false);
    this.inAutocast(() => this.forward());
    execution.popGradMode();
  }

  /** `out = model(x); loss = criterion(out, y)`: the new values replace the old ones once they exist. */
  private forward(): Value {
    const output = this.replace(0, this.call());
    return this.replace(1, this.loss(output));
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
    return this.program.call(this.model, this.args);
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
    const target = derivedTarget(this.program.interpreter, this.plan.loss, output);
    if (target === null) return [];
    this.hasDerivedTarget = true;
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
    interpreter.checkpointed = new Set();
  }
}
