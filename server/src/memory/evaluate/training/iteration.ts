/**
 * A script's own training loop, run: everything before it once, then iteration after iteration, the first to bring the
 * script into its steady state and at least one more to measure. Whatever an iteration does counts: several models,
 * several backwards and optimizers, losses of the script's own. Bytes throughout.
 */
import type { For, Module, While } from "../../../python/tree";
import { dottedPath, walk } from "../../../python/walk";
import { roundedUp } from "../../allocation-log";
import type { Execution, TimelinePoint } from "../../tape";
import { formatBytes } from "../../units";
import type { Storage, Tensor } from "../../tensor";
import { isUnknown, type Unknown } from "../../unknown";
import { moduleBefore } from "../approach";
import { assign } from "../assign";
import { CallRecorder } from "../call-records";
import type { Frame } from "../frame";
import type { BatchSampler, Interpreter } from "../interpreter";
import { iterate } from "../iteration";
import { isChange } from "../reasons";
import { isOwnOptimizer } from "../library/optimizers";
import { ModuleState, modulesOf, tensorsOf, unknownParts, unwrapped } from "../nn/state";
import { Program } from "../program";
import {
  autocastPrecision,
  blockCount,
  blocksOf,
  checkpointedCount,
  type StepMeasure,
  type StepPlan,
} from "../step";
import { ClassValue, ObjectValue, TupleValue, type Value } from "../values";
import { Walk, type WayToCall } from "../way";
import type { World } from "../world";
import { namedGroups, parametersOf } from "./groups";
import { settleHostModules } from "./host";
import { reachableFrom } from "./placement";
import { makeKeptCopies } from "./kept-copies";
import { heldByName, KeptByIterations } from "./growth";
import { enumerates } from "./batch-form";
import { GivenData, type GivenInputs } from "./given-data";
import { TrainingTrace } from "./trace";

/** The way to a training loop, and the loop. */
export interface WayToLoop extends Pick<WayToCall, "root" | "through"> {
  readonly loop: For | While;
  /** The script calls another model than the trained one. */
  readonly callsOthers: boolean;
  /** It calls one model, in one place of the iteration. */
  readonly isOfOneInput: boolean;
}

/** The first of all often does more, such as to show what is trained, and the one after it still holds some of that. */
const warmIterations = 2;

/** Iterations before the measured ones at most, where each tells more of what the batches are. */
const mostWarmIterations = 6;

/** Measured iterations at most: until every optimizer has stepped in one of them. */
const mostIterations = 8;

export interface MissingModel {
  readonly name: string;
  readonly reason: Unknown;
}

export class ScriptIteration {
  /** The model, or a module that holds all of them by the names of their variables. */
  readonly model: ObjectValue;
  /** The models that the iteration trains or calls. */
  readonly models: readonly ObjectValue[];

  private constructor(
    readonly program: Program,
    private readonly frames: readonly Frame[],
    private readonly sampler: BatchSampler,
    private readonly loop: For | While,
    private readonly iteration: Iteration,
    private readonly entry: ReturnType<typeof entryOf>,
    /** What was not understood before the loop and may have changed a model. */
    readonly changes: readonly Unknown[],
    private readonly kept: KeptByIterations,
    /** Iterations that have run. */
    private count: number,
  ) {
    const named = this.modelsOf();
    this.models = [...named.keys()];
    this.model = togetherAs(this.program.interpreter, named);
  }

  /** Runs a script up to its training loop, and one iteration of it. Unknown where that cannot be done. */
  static reach(
    execution: Execution,
    module: Module,
    way: WayToLoop,
    world: World | undefined,
    given?: GivenInputs,
  ): ScriptIteration | Unknown {
    const first = way.through[0]?.call ?? way.loop;
    const begun = way.root === undefined ? moduleBefore(module, first) : module;
    const program = new Program(execution, begun, undefined, world);
    const { interpreter } = program;
    const sampler: BatchSampler = { scale: 1, sizes: new Set(), isEntering: false, named: new Set() };
    const walk = new Walk(interpreter, sampler, undefined, true);
    interpreter.tracing = true;
    const fault = interpreter.guard(() => walk.before(way, way.loop));
    interpreter.tracing = false;
    if (fault !== undefined) return fault;
    const frames = [interpreter.globals, ...walk.frames];
    keepChanges(interpreter);
    for (const change of program.changes) interpreter.note(change);
    interpreter.training = new TrainingTrace(interpreter);
    interpreter.training.loopFrame = interpreter.frame;
    if (given !== undefined) interpreter.training.given = new GivenData(interpreter, given);
    const entry = entryOf(program, frames);
    const before = [...interpreter.noted];
    const iteration = new Iteration(program, sampler, way.loop);
    const kept = new KeptByIterations(execution);
    const { count, fault: warm } = warmUp(iteration, kept, interpreter.training.given);
    // What matters is said again by the iteration that is measured.
    interpreter.noted.clear();
    for (const [key, unknown] of before) interpreter.noted.set(key, unknown);
    execution.bounds.clear();
    if (warm !== undefined) interpreter.note(warm);
    else makeKeptCopies(interpreter, way, frames);
    const changes = before.map(([, unknown]) => unknown);
    const settled = { ...entry, bytes: withoutHosted(entry, interpreter) };
    return new ScriptIteration(program, frames, sampler, way.loop, iteration, settled, changes, kept, count);
  }

  /** Samples of one batch as the script says them; undefined where no loader does. */
  get batch(): number | undefined {
    const [size, ...others] = this.sampler.sizes;
    const { given } = this.training;
    if (given?.isUsed === true) return given.grows ? given.own : undefined;
    return others.length === 0 ? size : undefined;
  }

  /**
   * Whether a model gets the input that header or options give, and that grows with the micro-batch: data that the script itself
   * knows may be other data.
   */
  get takesGiven(): boolean {
    const { given } = this.training;
    return given === undefined || (given.isTaken && given.grows);
  }

  get training(): TrainingTrace {
    const { interpreter } = this.program;
    return (interpreter.training ??= new TrainingTrace(interpreter));
  }

  /** Runs the iteration under a plan, whose inputs and loss do not matter: the script makes its own. */
  run(plan: StepPlan, wantsTimeline: boolean): StepMeasure {
    const { program, training, sampler } = this;
    const { execution, interpreter } = program;
    const { ambient, ignoresAutocast, keepsGradients } = training;
    this.choose(plan);
    const isOtherPrecision = training.ambient !== ambient || training.ignoresAutocast !== ignoresAutocast;
    const isOtherWindow = training.keepsGradients !== keepsGradients;
    const scale = this.batch === undefined ? 1 : plan.batch / this.batch;
    const isChanged = sampler.scale !== scale || isOtherPrecision || isOtherWindow;
    sampler.scale = scale;
    if (training.given !== undefined) training.given.batch = plan.batch;
    // what the iteration before leaves is as large as this one's
    const before = isChanged ? this.settled() : undefined;
    const timeline: TimelinePoint[] = [];
    if (wantsTimeline) execution.timeline = timeline;
    interpreter.recorder = wantsTimeline ? new CallRecorder() : undefined;
    const calls = interpreter.recorder;
    execution.takeWork();
    const inputs = execution.liveBytes().inputs;
    training.begin();
    const fault = before ?? this.measured();
    training.end();
    interpreter.recorder = undefined;
    execution.timeline = undefined;
    execution.phase = "setup";
    const measure = this.measure(fault, inputs, timeline, calls);
    if (fault === undefined && this.kept.grows) this.noteGrowth();
    return measure;
  }

  /** An iteration that nobody measures, under the plan's autocast like the one that is. */
  private settled(): Unknown | undefined {
    this.training.begin();
    const fault = this.iteration.run(this.count++);
    this.training.end();
    this.kept.add();
    return fault;
  }

  /** Says what the iterations pile up: the peak of a later one is higher. */
  private noteGrowth(): void {
    const { interpreter } = this.program;
    const before = heldByName(this.namedValues());
    // what is full by now, such as a deque of the last outputs, grows no more
    if (this.settled() !== undefined || !this.kept.grows) return;
    const after = heldByName(this.namedValues());
    const gains = [...after].map(([name, bytes]) => [name, bytes - (before.get(name) ?? 0)] as const);
    const [most] = gains.filter(([, gain]) => gain > 0).sort(([, one], [, other]) => other - one);
    // a graph that hangs on what is kept counts as well
    const values = { size: formatBytes(this.kept.growth), count: this.count - 1 };
    interpreter.note(
      most === undefined
        ? interpreter.unknown("grows", this.loop, values)
        : interpreter.unknown("growsIn", this.loop, { ...values, name: most[0] }),
    );
  }

  private measured(): Unknown | undefined {
    const { iteration } = this;
    const { interpreter } = this.program;
    for (let i = 0; i < mostIterations; i++) {
      const fault = iteration.run(this.count++);
      if (fault !== undefined) return fault;
      this.kept.add();
      interpreter.recorder = undefined;
      if (this.waiting().length === 0) return undefined;
    }
    for (const count of guardedCounts(this.training.divisors, this.count)) {
      const fault = iteration.run(count);
      if (fault !== undefined) return fault;
      // what a rare step leaves, such as gradients, is there in the iteration behind it
      if (this.waiting().length === 0) return iteration.run(count + 1);
    }
    for (const { span } of this.waiting()) interpreter.note(interpreter.unknown("neverSteps", span));
    return undefined;
  }

  /** Optimizers of the table that have not stepped yet; others are known by what their code does. */
  private waiting(): ObjectValue[] {
    const stepped = new Set(this.training.steps.map(({ optimizer }) => optimizer));
    const optimizers = [...this.program.interpreter.optimizers];
    const waiting = optimizers.filter((optimizer) => !isOwnOptimizer(optimizer) && !stepped.has(optimizer));
    if (waiting.length === 0) return [];
    const { objects } = reachableFrom(variablesOf(this.visibleFrames()));
    return waiting.filter((optimizer) => objects.has(optimizer));
  }

  /** Whose variables the loop's own code can name: not those of callers. */
  private visibleFrames(): Frame[] {
    const visible: Frame[] = [];
    for (let frame = this.frames.at(-1); frame !== undefined; frame = frame.parent) visible.push(frame);
    return visible;
  }

  private choose(plan: StepPlan): void {
    const { training, model } = this;
    const { interpreter } = this.program;
    const checkpoint = plan.checkpoint ?? "none";
    const blocks = blocksOf(model, checkpoint);
    interpreter.checkpointed = new Set(blocks.slice(0, checkpointedCount(blocks, checkpoint)));
    training.keepsGradients = plan.accumulates === true;
    const dtype = autocastPrecision[plan.precision];
    const isOwn = plan.precisionIsScripts === true && training.usesAutocast;
    training.ignoresAutocast = plan.precisionIsScripts === false;
    training.ambient = isOwn ? undefined : dtype;
  }

  private measure(
    fault: Unknown | undefined,
    inputs: number,
    timeline: readonly TimelinePoint[],
    calls: CallRecorder | undefined,
  ): StepMeasure {
    const { program, training, model } = this;
    const { execution } = program;
    const own = <Peaked extends { live: number; allocated: number }>(peak: Peaked): Peaked => ({
      ...peak,
      live: peak.live - program.baselineLive,
      allocated: peak.allocated - program.baselineAllocated,
    });
    const forward = training.forward ?? execution.takePeak();
    const { backwardPeak } = training;
    const stepped = new Set(training.steps.flatMap(({ groups }) => groups.flatMap(({ tensors }) => tensors)));
    for (const tensor of this.ownStepped()) stepped.add(tensor);
    return {
      saved: training.saved,
      inputs,
      forward: own(forward),
      backward: backwardPeak === undefined ? undefined : own(backwardPeak),
      liveAfterForward: program.live,
      liveAfterBackward: program.live,
      allocatedAfterBackward: program.allocated,
      gradients: training.gradients,
      stepped: [...stepped],
      steps: training.steps.map(own),
      ownState: this.ownState(),
      timeline: timeline.map((point) => program.ownPoint(point)),
      work: execution.takeWork(),
      blocks: blockCount(blocksOf(model, "all"), program.interpreter.checkpointed.size),
      calls,
      log: undefined,
      hasDerivedTarget: training.labels.size > 0,
      fault: fault ?? (backwardPeak === undefined ? this.noBackward() : undefined),
    };
  }

  private noBackward(): Unknown {
    return this.program.interpreter.unknown("noBackward", this.loop);
  }

  /** Parameters of optimizers whose step the script has written. */
  private ownStepped(): Tensor[] {
    return [...this.program.interpreter.optimizers]
      .filter(isOwnOptimizer)
      .flatMap(parametersOf)
      .filter(({ gradient }) => gradient !== undefined);
  }

  /** What such optimizers keep in `state`, beyond parameters and gradients. */
  private ownState(): StepMeasure["ownState"] {
    const optimizers = [...this.program.interpreter.optimizers].filter(isOwnOptimizer);
    const [first] = optimizers;
    if (first === undefined) return undefined;
    const storages = new Set<Storage>();
    for (const optimizer of optimizers) {
      const { tensors } = reachableFrom([["state", optimizer.attributes.get("state") ?? null]]);
      for (const { storage } of tensors) if (storage.kind === "activation") storages.add(storage);
    }
    return { name: first.type.name, bytes: [...storages].reduce((sum, { bytes }) => sum + bytes, 0) };
  }

  /**
   * The models that count, by the names of their variables: those that the iteration calls or an optimizer trains, and
   * others that the script has put on its device; all where it puts none there by name.
   */
  private modelsOf(): Map<ObjectValue, string> {
    const { interpreter } = this.program;
    const trained = new Set<Tensor>([...interpreter.optimizers].flatMap(parametersOf));
    const { used } = this.training;
    const { modules } = reachableFrom(variablesOf(this.frames));
    const placesModels = [...modules.keys()].some((module) => interpreter.placed.has(module));
    const isCounted = (module: ObjectValue): boolean => {
      if (interpreter.onHost.has(module)) return false;
      const tensors = [...tensorsOf(module, "parameters"), ...tensorsOf(module, "buffers")];
      // a wrapper is where what it wraps is: the copy of a model that averages its weights
      const parts = modulesOf(module);
      const isUsed = !placesModels || parts.some((part) => used.has(part) || interpreter.placed.has(part));
      return tensors.length > 0 && (isUsed || tensors.some((tensor) => trained.has(tensor)));
    };
    // copies that an iteration makes are what it holds, and may be gone in the next one
    const counted = [...modules].filter(([module]) => this.entry.models.has(module) && isCounted(module));
    return new Map(
      counted.flatMap(([module, name]) => {
        const inner = unwrapped(module);
        return isUnknown(inner) ? [] : [[inner, name] as const];
      }),
    );
  }

  /** Those of the models of which an optimizer has parameters. */
  get trainedModels(): readonly ObjectValue[] {
    const trained = new Set<Tensor>([...this.program.interpreter.optimizers].flatMap(parametersOf));
    return this.models.filter((model) =>
      tensorsOf(model, "parameters").some((tensor) => trained.has(tensor)),
    );
  }

  /**
   * The steps of all optimizers as if each had stepped once, where the iteration is not followed to them. Undefined where one of
   * them is not of `torch.optim`.
   */
  get expectedSteps(): StepMeasure["steps"] | undefined {
    const optimizers = [...this.program.interpreter.optimizers];
    if (this.training.unknownStep !== undefined || optimizers.some(isOwnOptimizer)) return undefined;
    if (optimizers.length === 0) return undefined;
    const steps = optimizers.map((optimizer) => ({ optimizer, groups: namedGroups(optimizer) }));
    const trained = tensorsOf(this.model, "parameters").filter(({ requiresGrad }) => requiresGrad);
    const own = new Set(trained);
    const location = { span: undefined, modulePath: "" };
    return steps.map(({ optimizer, groups }) => ({
      optimizer,
      groups: groups.map(({ setting, tensors }) => ({
        setting,
        tensors: tensors.filter((one) => own.has(one)),
      })),
      live: 0,
      allocated: 0,
      location,
      points: 0,
    }));
  }

  /**
   * What the loop can name and the script treats as a model, of which no figure is known: nothing tells what it is, or
   * what it is made of. Each name and each reason once.
   */
  get unknownModels(): readonly MissingModel[] {
    const found = new Map<Unknown, string>();
    const names = new Set<string>();
    for (const [variable, value] of this.namedValues()) {
      const reason = this.whyUnknown(value);
      if (reason === undefined || found.has(reason)) continue;
      const name = this.program.interpreter.modelLike.get(reason) ?? variable;
      if (!names.has(name)) found.set(reason, name);
      names.add(name);
    }
    return [...found].map(([reason, name]) => ({ name, reason }));
  }

  /** What the loop can name: variables, and attributes of the objects in them that are no models. */
  private namedValues(): (readonly [string, Value])[] {
    const variables = variablesOf(this.visibleFrames());
    const attributes = variables.flatMap(([name, value]) =>
      value instanceof ObjectValue && value.module === undefined
        ? [...value.attributes].map(([key, inner]) => [`${name}.${key}`, inner] as const)
        : [],
    );
    return [...variables, ...attributes];
  }

  private whyUnknown(value: Value): Unknown | undefined {
    const { modelLike, placed } = this.program.interpreter;
    if (isUnknown(value)) return modelLike.has(value) ? value : undefined;
    if (!(value instanceof ObjectValue) || value.module === undefined) return undefined;
    if (!placed.has(value) && !this.training.used.has(value)) return undefined;
    const isEmpty = [...tensorsOf(value, "parameters"), ...tensorsOf(value, "buffers")].length === 0;
    return isEmpty ? unknownParts(value)[0] : undefined;
  }

  /** The name that the loop calls like a model, and why nobody knows what it is; undefined where there is none. */
  get missingModel(): MissingModel | undefined {
    for (const path of pathsCalledIn(this.loop)) {
      const value = this.valueAt(path.split("."));
      const [hidden] = value instanceof ObjectValue ? unknownParts(value) : [];
      const reason = value !== undefined && isUnknown(value) ? value : hidden;
      if (reason !== undefined) return { name: path, reason };
    }
    return undefined;
  }

  /** A variable on the way to the loop, or what an object in one holds under a name. */
  private valueAt([name = "", ...attributes]: readonly string[]): Value | undefined {
    let value = this.frames.findLast(({ variables }) => variables.has(name))?.variables.get(name);
    for (const attribute of attributes)
      value = value instanceof ObjectValue ? value.attributes.get(attribute) : undefined;
    return value;
  }

  /** Takes everything off the figures that is not the models' and was there before the loop. */
  adopt(): void {
    this.program.adopt(this.model, this.entry.bytes);
  }
}

/** Brings the script into its steady state, with all that the header and the models' calls say of its batches. */
function warmUp(
  iteration: Iteration,
  kept: KeptByIterations,
  given: GivenData | undefined,
): { readonly count: number; readonly fault: Unknown | undefined } {
  let fault: Unknown | undefined;
  let count = 0;
  for (let learns = true; count < warmIterations || (learns && count < mostWarmIterations);) {
    const known = given?.known ?? 0;
    fault = iteration.run(count++);
    kept.add();
    learns = (given?.known ?? 0) > known;
  }
  return { count, fault };
}

/** Later iterations than these are not looked for: their number costs time where the loop's items are gone through. */
const mostCount = 100_000;
const mostGuards = 8;

/** Iterations at which guards by a remainder open, first those at which all do: `i % 100 == 0`, `(i + 1) % 100 == 0`. */
function guardedCounts(divisors: ReadonlySet<number>, from: number): number[] {
  const usable = [...divisors].filter((one) => Number.isInteger(one) && one > 1 && one < mostCount);
  const together = usable.reduce(leastCommonMultiple, 1);
  const counts = [together, ...usable].flatMap((one) => {
    const multiple = one * Math.ceil((from + 1) / one);
    return [multiple - 1, multiple];
  });
  return [...new Set(counts)].filter((count) => count >= from && count < mostCount).slice(0, mostGuards);
}

function leastCommonMultiple(one: number, other: number): number {
  let [divisor, rest] = [one, other];
  while (rest > 0) [divisor, rest] = [rest, divisor % rest];
  return (one / divisor) * other;
}

/** What is called like a model: `net(x)`, `net.forward(x)`, `self.net(x)`. */
function pathsCalledIn({ body }: For | While): string[] {
  const found: string[] = [];
  for (const statement of body)
    walk(statement, {
      enter: (node) => {
        const path = node.kind === "Call" ? dottedPath(node.callee) : undefined;
        if (path !== undefined) found.push(path.replace(/\.forward$/, ""));
        return true;
      },
    });
  return found;
}

function variablesOf(frames: readonly Frame[]): (readonly [string, Value])[] {
  return frames.toReversed().flatMap(({ variables }) => [...variables]);
}

/** The loop is reached: of what was noted on the way only what may have changed a model matters. */
function keepChanges({ noted }: Interpreter): void {
  for (const [key, unknown] of noted) if (!isChange(unknown)) noted.delete(key);
}

/** Live bytes when the loop is entered, with data of the script on the host, and the modules that are there. */
function entryOf({ execution, interpreter }: Program, frames: readonly Frame[]) {
  settleHostModules(interpreter);
  const { tensors, modules } = reachableFrom(variablesOf(frames));
  const states = new Set<Storage>();
  for (const module of modules.keys())
    for (const kind of ["parameters", "buffers"] as const)
      for (const { storage } of tensorsOf(module, kind)) states.add(storage);
  const placed = new Set<Storage>();
  for (const { storage } of tensors) {
    if (states.has(storage) || (storage.kind !== "activation" && storage.kind !== "input")) continue;
    if (interpreter.placed.has(storage)) placed.add(storage);
    else {
      execution.changeKind(storage, "host");
      interpreter.training?.waiting.add(storage);
    }
  }
  // parameters of no module that an optimizer trains, such as a temperature: no model's figures hold them
  for (const { storage } of [...interpreter.optimizers].flatMap(parametersOf))
    if (storage.kind === "parameter" && !states.has(storage)) placed.add(storage);
  let [live, allocated] = [execution.live, execution.allocated];
  const bytes = { ...execution.liveBytes() };
  for (const { bytes: size, kind } of placed) {
    live -= size;
    allocated -= roundedUp(size);
    if (kind === "parameter") bytes.parameters -= size;
    else if (kind === "input") bytes.inputs -= size;
    else bytes.temporary -= size;
  }
  const models = new Set([...modules.keys()].flatMap(modulesOf));
  interpreter.training?.noteUnplaced(modules.keys());
  const counted = [...modules.keys()].filter((module) => !interpreter.onHost.has(module));
  return { bytes: { ...bytes, live, allocated }, models, counted };
}

/** Without the modules of which the loop shows that they are in the host's memory. */
function withoutHosted({ bytes, counted }: ReturnType<typeof entryOf>, { onHost }: Interpreter) {
  const left = { ...bytes };
  for (const module of counted.filter((one) => onHost.has(one)))
    for (const kind of ["parameters", "buffers"] as const)
      for (const { bytes: size } of new Set(tensorsOf(module, kind).map(({ storage }) => storage))) {
        left[kind] -= size;
        left.live -= size;
        left.allocated -= roundedUp(size);
      }
  return left;
}

/** One module as it is; several as submodules of one that holds nothing else. */
function togetherAs(interpreter: Interpreter, named: ReadonlyMap<ObjectValue, string>): ObjectValue {
  const [only, ...others] = named.keys();
  if (only !== undefined && others.length === 0) return only;
  const type = new ClassValue([...named.keys()].map(({ type: { name } }) => name).join(" + "), []);
  const together = new ObjectValue(type);
  together.module = new ModuleState();
  for (const [module, name] of named)
    together.module.modules.set(freeName(together.module.modules, name), module);
  interpreter.references.retain(together);
  return together;
}

/** Models of a list have its name, and several objects may each hold a `model`: the second is `model (2)`. */
function freeName(taken: { has(name: string): boolean }, name: string): string {
  if (!taken.has(name)) return name;
  let count = 2;
  while (taken.has(`${name} (${count})`)) count++;
  return `${name} (${count})`;
}

/** One iteration of the loop at a time. */
class Iteration {
  private readonly interpreter: Interpreter;
  private iterable: Value = null;
  private source: Iterator<Value> | undefined;

  constructor(
    program: Program,
    private readonly sampler: BatchSampler,
    private readonly loop: For | While,
  ) {
    this.interpreter = program.interpreter;
  }

  /** Runs the iteration with this number; a reason where it could not be followed to its end. */
  run(count: number): Unknown | undefined {
    const { interpreter, loop, sampler } = this;
    interpreter.stepLimit = interpreter.steps + interpreter.limits.steps;
    interpreter.sampler = sampler;
    sampler.isEntering = true;
    interpreter.tracing = true;
    const fault = interpreter.guard(() => {
      const mark = interpreter.references.mark();
      // batches are made on the host
      if (loop.kind === "For") this.makeBatch(() => this.bind(loop, count));
      interpreter.references.releaseTo(mark);
      const completion = interpreter.execute(loop.body);
      interpreter.references.releaseTo(mark);
      return completion?.kind === "unknown" ? completion.reason : undefined;
    });
    interpreter.tracing = false;
    sampler.isEntering = false;
    return fault;
  }

  private makeBatch(bind: () => void): void {
    const { execution, training } = this.interpreter;
    if (training !== undefined) training.isMakingBatch = true;
    try {
      execution.unobserved(bind);
    } finally {
      if (training !== undefined) training.isMakingBatch = false;
    }
  }

  /** The loop's target becomes its item with this number; a loader's batches are all alike. */
  private bind(loop: For, count: number): void {
    const { interpreter } = this;
    // what a generator holds of its item, it holds while the iteration runs
    this.source?.return?.();
    interpreter.references.release(this.iterable);
    const noted = new Set(interpreter.noted.keys());
    this.iterable = interpreter.evaluate(loop.iterable);
    interpreter.references.retain(this.iterable);
    const items = iterate(interpreter, this.iterable, loop.iterable);
    const item = isUnknown(items) ? items : this.itemAt(loop, items, count);
    if (item === undefined) return;
    const given = interpreter.training?.given?.itemFor(loop, item, count);
    // what was not understood on the way to data that the header stands in for costs nothing
    if (given !== undefined && given !== item)
      for (const key of interpreter.noted.keys()) if (!noted.has(key)) interpreter.noted.delete(key);
    if (given === undefined && isUnknown(items)) interpreter.note(items);
    else assign(interpreter, loop.target, given ?? item);
    if (given === undefined) interpreter.training?.noteBatch(item);
  }

  private itemAt(loop: For, items: Iterable<Value>, count: number): Value | undefined {
    const source = items[Symbol.iterator]();
    this.source = source;
    let [item, number]: [Value | undefined, number] = [undefined, 0];
    for (let next = source.next(); next.done !== true; next = source.next()) {
      item = next.value;
      if (number++ === count) break;
    }
    const missing = count - (number - 1);
    return item !== undefined && missing > 0 && enumerates(loop.iterable) ? later(item, missing) : item;
  }
}

function later(item: Value, by: number): Value {
  if (!(item instanceof TupleValue) || typeof item.items[0] !== "number") return item;
  return new TupleValue([item.items[0] + by, ...item.items.slice(1)]);
}
