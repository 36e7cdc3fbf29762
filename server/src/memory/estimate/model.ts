/** Estimates of the models of one file and answers about them, computed on first use and kept. */
import { message, type MessageText } from "../../messages/message";
import { unknownReasons } from "../../messages/estimate";
import type { Module } from "../../python/tree";
import type { BatchGraph, ModelEstimate, ModelWeights, Timeline, UnknownPart } from "../estimate";
import { buildIteration, buildOrReason, newProgram, planOf, type Built } from "./build";
import { assumptionsOf } from "./assumptions";
import { batchGraphOf } from "./graph";
import { examplesOf, type Example, type KnownModel } from "./examples";
import { layersOf } from "./layers";
import { missingParts, modelUnknown, notUnderstood, otherType, unknownPart } from "./not-understood";
import { peakOf } from "./peak";
import { plainSpan } from "./spans";
import { heldBy, ownBytes, statesOf, type LeftGradients } from "./states";
import { exampleInput, type ExampleInput } from "../example-input";
import { firstStep, Reruns, type TracedStep } from "./reruns";
import { ModelSteps } from "./steps";
import { buildModel, classSubject, placeOf, requiredArgument, trainedSubject, type Subject } from "./subject";
import { unknownParts } from "../evaluate/nn/state";
import type { ObjectValue } from "../evaluate/values";
import type { MissingModel, ScriptIteration } from "../evaluate/training/iteration";
import { isLimit, rootOf } from "../evaluate/reasons";
import { Allowance, type World } from "../evaluate/world";
import type { Program } from "../evaluate/program";
import { castStates, type StepMeasure } from "../evaluate/step";
import { whatFits, type FitAnswer } from "../fit";
import { largestBatch } from "../largest-batch";
import { limitOf, type TrainingSetup } from "../setup";
import { stepTimeline, type StepTimeline } from "../step-timeline";
import { Unknown } from "../unknown";

/** A script's own iteration and the run of it. */
interface Reached {
  readonly built: Built;
  readonly iteration: ScriptIteration;
  readonly setup: TrainingSetup;
  readonly ran: TracedStep;
}

export class Estimator {
  private readonly world: World;
  private program: Program | undefined;
  private subject: { readonly value: Subject | undefined } | undefined;
  private trained: { readonly value: ModelEstimate | undefined } | undefined;
  private readonly classes = new Map<string, ModelEstimate | undefined>();
  private examples: ReadonlyMap<string, Example> | undefined;
  /** The trained model, where its class alone says how to make it. */
  private defaultInstance: KnownModel | undefined;
  private points: Timeline = [];
  private step: (() => StepTimeline | undefined) | undefined;
  private moments: { readonly step: StepTimeline | undefined } | undefined;
  /** Of the trained model; absent where it could not be built or its input is not known. */
  private steps: ModelSteps | undefined;
  private reruns: { readonly of: Reruns; readonly built: Built; readonly subject: Subject } | undefined;
  /** The script trains more than the estimate of one model says, whatever instance of it that is. */
  private isDoubted = false;
  /** Whether of the models of an iteration one is trained; undefined where the step is no iteration of the script. */
  private trainsOne: boolean | undefined;
  private readonly largest = new Map<number, number | undefined>();
  private fit: { readonly answer: FitAnswer | undefined } | undefined;
  /** By mode and micro-batch, where another than the step's is asked for. */
  private readonly graphs = new Map<string, BatchGraph | undefined>();

  constructor(
    private readonly module: Module,
    private setup: TrainingSetup,
    world: World = {},
  ) {
    this.world = { ...world, allowance: world.allowance ?? new Allowance() };
  }

  all(): readonly ModelEstimate[] {
    const first = this.trainedEstimate();
    const names = this.shared()
      .moduleClasses()
      .map(({ name }) => name);
    const others = names.map((name) => this.ofClass(name));
    return [first, ...others.filter((estimate) => estimate !== first)].filter(
      (estimate) => estimate !== undefined,
    );
  }

  first(): ModelEstimate | undefined {
    return this.trainedEstimate() ?? this.all()[0];
  }

  ofClass(name: string): ModelEstimate | undefined {
    const trained = this.trainedEstimate();
    const isTrained = trained?.name === name;
    if (isTrained && (trained.notBuilt !== true || trained.unknown.some(({ reason }) => isLimit(reason))))
      return trained;
    if (!this.classes.has(name)) this.classes.set(name, this.stateEstimate(name));
    const found = this.classes.get(name);
    return isTrained && found?.notBuilt === true ? trained : found;
  }

  timeline(): Timeline {
    this.trainedEstimate();
    return this.points;
  }

  /** The whole step as a timeline shows it; undefined where none was simulated. */
  stepTimeline(): StepTimeline | undefined {
    this.trainedEstimate();
    this.moments ??= { step: this.step?.() };
    return this.moments.step;
  }

  /**
   * The trained model under another setup, of which micro-batch, precision, checkpoints and optimizer may differ, the
   * states' type not. The model is built anew only where one step leaves traces for the next.
   */
  under(setup: TrainingSetup): Estimator {
    this.trainedEstimate();
    const other = new Estimator(this.module, setup, { ...this.world, allowance: undefined });
    const asked = withBatch(setup, this.reruns?.built.iteration?.batch);
    const ran = this.reruns?.of.at(asked);
    if (this.reruns === undefined || ran === undefined) return other;
    const { subject, built } = this.reruns;
    other.setup = asked;
    other.subject = this.subject;
    other.points = ran.measure.timeline;
    other.trained = { value: other.assemble(subject, built, ran) };
    return other;
  }

  batchGraph(isTraining: boolean, batch?: number): BatchGraph | undefined {
    const key = `${isTraining} ${batch ?? ""}`;
    if (!this.graphs.has(key)) this.graphs.set(key, this.findBatchGraph(isTraining, batch));
    return this.graphs.get(key);
  }

  /** With an allowance of its own, so that it takes nothing from the step. */
  private findBatchGraph(isTraining: boolean, batch: number | undefined): BatchGraph | undefined {
    if (planOf(this.setup) === undefined) return undefined;
    if (this.setup.iteration !== undefined) this.trainedEstimate(); // says which model and which micro-batch
    const world = { ...this.world, allowance: new Allowance() };
    const setup: TrainingSetup =
      batch === undefined ? this.setup : { ...this.setup, batch: { value: batch, from: "script" } };
    return batchGraphOf(this.module, setup, this.calledModel(), isTraining, world);
  }

  /**
   * The trained model, to be built by itself: an iteration's own object goes on through its iterations, in training mode, and
   * another program must not run it.
   */
  private calledModel(): Subject | undefined {
    if (this.trainsOne === undefined) return this.trainedModel();
    return this.trainsOne ? trainedSubject(this.shared(), this.module, this.setup) : undefined;
  }

  largestBatch(limit: number | undefined = limitOf(this.setup)): number | undefined {
    const steps = this.trainedSteps();
    if (steps === undefined || limit === undefined) return undefined;
    if (!this.largest.has(limit)) this.largest.set(limit, largestBatch(steps, limit));
    return this.largest.get(limit);
  }

  /** Whether another micro-batch would need another step; false where no step was simulated. */
  growsWithBatch(): boolean {
    return this.trainedSteps()?.grows ?? false;
  }

  whatFits(): FitAnswer | undefined {
    const [steps, limit] = [this.trainedSteps(), limitOf(this.setup)];
    if (steps === undefined || limit === undefined) return undefined;
    this.fit ??= { answer: whatFits(steps, limit, this.largestBatch(limit)) };
    return this.fit.answer;
  }

  private trainedSteps(): ModelSteps | undefined {
    this.trainedEstimate();
    return this.steps;
  }

  /** One program for looking around and for estimates of states alone. */
  private shared(): Program {
    return (this.program ??= newProgram(this.module, this.setup, this.world));
  }

  /** Which model that is. */
  trainedModel(): Subject | undefined {
    this.subject ??= { value: trainedSubject(this.shared(), this.module, this.setup) };
    return this.subject.value;
  }

  /** The estimate of the model that is trained. */
  trainedEstimate(): ModelEstimate | undefined {
    this.trained ??= { value: this.betterKnown(this.estimateTrained()) };
    return this.trained.value;
  }

  /** Where only a call with arguments of its caller makes the model: what a function of the file makes without any. */
  private betterKnown(estimate: ModelEstimate | undefined): ModelEstimate | undefined {
    if (estimate === undefined || estimate.complete || this.setup.model !== undefined) return estimate;
    if (this.steps !== undefined || this.isDoubted || planOf(this.setup) !== undefined) return estimate;
    const example = this.exampleEstimate(estimate.name);
    return example?.complete === true ? example : estimate;
  }

  private estimateTrained(): ModelEstimate | undefined {
    const reached = this.reachIteration();
    if (this.isFedByHeader(reached)) {
      this.setup = { ...this.setup, iteration: undefined };
      return this.estimateOne();
    }
    if (reached === undefined) return this.estimateOne(this.unfollowed(undefined));
    if ("reason" in reached) {
      this.explainInput(reached.reason);
      return this.estimateOne(this.unfollowed(reached.reason)) ?? this.modelMissing(reached);
    }
    const { built, setup, ran } = reached;
    this.trainsOne = reached.iteration.trainedModels.length === 1;
    const subject = subjectOf(reached.iteration, setup);
    if (ran.measure.backward === undefined) return this.withoutStep(reached, subject);
    this.setup = setup;
    this.subject = { value: subject };
    return this.withSteps(subject, built, ran);
  }

  /**
   * Header or options give the input of the script's one model, and the loop does not tell a step with it: then it is the step
   * of that model alone that was asked for.
   */
  private isFedByHeader(reached: Reached | MissingModel | undefined): boolean {
    const { iteration, inputs } = this.setup;
    if (iteration?.value.isOfOneInput !== true || inputs === undefined || inputs.from === "script")
      return false;
    if (reached === undefined || "reason" in reached) return true;
    const { ran, built, setup, iteration: loop } = reached;
    const { measure } = ran;
    if (measure.backward === undefined || !loop.takesGiven) return true;
    return notUnderstood(setup, built, ran, statesOf(heldBy(built.model), setup, measure)).length > 0;
  }

  /**
   * What the step of one model may leave out where the script's loop is more than that and was not followed; nothing where no loop
   * was to be followed, or where that step is a lower bound for its own reasons.
   */
  private unfollowed(reason: Unknown | undefined): Unknown[] {
    const { iteration, mode, inputs } = this.setup;
    if (iteration === undefined || mode?.value === "infer") return [];
    const { callsOthers, isOfOneInput } = iteration.value;
    if (reason === undefined && !callsOthers && isOfOneInput) return [];
    // the states of one model are whole without the loop, unless it calls others
    if (inputs === undefined && !callsOthers) return [];
    const because = reason === undefined ? message(unknownReasons.otherType) : rootOf(reason.reason);
    const text = message(unknownReasons.loopNotFollowed, { reason: because });
    return [new Unknown(text, reason?.span ?? iteration.span)];
  }

  /** Why the training loop does not tell what the model is given, where nothing else does. */
  private explainInput(reason: Unknown | undefined): void {
    const { inputs, inputsUnknown } = this.setup;
    // the loop itself may call its model with anything
    const isOpen = inputsUnknown === undefined || inputsUnknown.reason.text === unknownReasons.plainArgument;
    if (inputs === undefined && isOpen && reason !== undefined)
      this.setup = { ...this.setup, inputsUnknown: reason };
  }

  /** The script's own iteration, run once, or why it has no model; undefined where that is not asked for. */
  private reachIteration(): Reached | MissingModel | undefined {
    const built = buildIteration(this.module, this.setup, this.world);
    if (built === undefined || "reason" in built) return built;
    const { iteration } = built;
    if (iteration === undefined) return undefined;
    const setup = withBatch(this.setup, iteration.batch);
    const plan = planOf(setup, undefined, iteration);
    return plan && { built, iteration, setup, ran: firstStep(built, plan) };
  }

  /**
   * An iteration that reaches no backward still has made the models: their states are known, unless more is known of the one
   * model by itself.
   */
  private withoutStep({ built, iteration, ran }: Reached, subject: Subject): ModelEstimate | undefined {
    const { fault } = ran.measure;
    const reason = ran.noted.find((unknown) => unknown !== fault) ?? fault;
    this.explainInput(reason);
    const doubts = [...this.unfollowed(reason), ...iteration.unknownModels.map(modelUnknown)];
    const one = this.estimateOne(doubts);
    const isBuilt = one !== undefined && one.notBuilt !== true;
    const onlyInputUnknown = one?.peak === null && one.unknown.length === 1 + doubts.length;
    const isOfOne = iteration.trainedModels.length <= 1;
    const isGiven = this.setup.inputs !== undefined && this.setup.inputs.from !== "script";
    // the input of one of several models makes no step of all of them: their states say more
    const hasStep = isBuilt && one.peak !== null && (isOfOne || !isGiven);
    // copies and other models that the loop works with are states as well
    if (hasStep || (isBuilt && onlyInputUnknown && iteration.models.length <= 1)) return one;
    const { interpreter } = built.program;
    interpreter.noted.clear();
    for (const change of iteration.changes) interpreter.note(change);
    if (reason !== undefined) this.setup = { ...this.setup, inputsUnknown: reason };
    this.subject = { value: subject };
    return this.assemble(subject, built, undefined);
  }

  /** With doubts that make its figures lower bounds. */
  private estimateOne(doubts: readonly Unknown[] = []): ModelEstimate | undefined {
    const subject = this.trainedModel();
    if (subject === undefined) return undefined;
    const missing = subject.from === "default" ? this.argumentsMissing(subject) : undefined;
    if (missing !== undefined) return this.exampleEstimate(subject.className ?? "") ?? missing;
    const found = buildOrReason(this.module, this.setup, subject, this.world);
    if ("reason" in found) return this.notBuilt(subject, found);
    // what is not understood at the same place says it already
    const further = doubts.filter(({ span }) => found.noted.every((one) => one.span?.start !== span?.start));
    this.isDoubted = further.length > 0;
    for (const doubt of further) found.program.interpreter.note(doubt);
    const built = { ...found, noted: [...found.noted, ...further] };
    const plan = planOf(this.setup);
    if (plan === undefined) return this.assemble(subject, built, undefined);
    return this.withSteps(subject, built, firstStep(built, plan));
  }

  private withSteps(subject: Subject, built: Built, ran: TracedStep): ModelEstimate {
    this.points = ran.measure.timeline;
    const held = heldBy(built.model);
    const steps = new ModelSteps(built, this.setup, held);
    steps.add(ran.measure, ran.noted.length === 0 && ran.bounds.length === 0);
    this.steps = steps;
    const reruns = Reruns.of(built, ran, this.setup);
    this.reruns = reruns && { of: reruns, built, subject };
    const text = subject.defaultCall;
    if (reruns !== undefined && text !== undefined && unknownParts(built.model).length === 0)
      this.defaultInstance = { model: built.model, text };
    return this.assemble(subject, built, ran, steps, held);
  }

  private stateEstimate(name: string): ModelEstimate | undefined {
    const program = this.shared();
    const subject = classSubject(program, name, "default");
    if (subject === undefined) return undefined;
    const missing = this.argumentsMissing(subject);
    if (missing !== undefined) return this.exampleEstimate(name) ?? missing;
    program.interpreter.noted.clear();
    const model = buildModel(program, subject);
    if ("reason" in model) return this.notBuilt(subject, model);
    castStates(program, model, this.setup.precision?.value ?? "fp32");
    return this.assemble(subject, { program, model, noted: program.noted() }, undefined);
  }

  /** The figures of an instance that one of the file's own functions makes. */
  private exampleEstimate(name: string): ModelEstimate | undefined {
    this.examples ??= examplesOf(this.shared(), this.module, this.defaultInstance);
    const example = this.examples.get(name);
    const type = this.shared()
      .moduleClasses()
      .find((one) => one.name === name);
    if (example === undefined || type === undefined) return undefined;
    const { interpreter } = this.shared();
    interpreter.noted.clear();
    for (const unknown of example.noted) interpreter.note(unknown);
    if (!example.isKnown) castStates(this.shared(), example.model, this.setup.precision?.value ?? "fp32");
    const { start, end } = type.node.name;
    const subject: Subject = {
      span: { start, end },
      from: "default",
      text: example.text,
      className: name,
      build: () => example.model,
    };
    const built = { program: this.shared(), model: example.model, noted: example.noted };
    return { ...this.assemble(subject, built, undefined), example: example.text };
  }

  /** For a class that nobody says how to build. */
  private argumentsMissing(subject: Subject): ModelEstimate | undefined {
    const name = subject.className ?? "";
    const parameter = requiredArgument(this.shared(), name);
    if (parameter === undefined) return undefined;
    const reason = message(unknownReasons.argumentsNeeded, { name, parameter });
    return this.notBuilt(subject, { reason, span: subject.span });
  }

  /** A script trains something that nobody knows how to build: the place is where that was lost. */
  private modelMissing({ name, reason }: MissingModel): ModelEstimate {
    const span = reason.span ?? this.setup.iteration?.span ?? { start: 0, end: 0 };
    const subject: Subject = { span, from: "script", text: name, build: () => reason };
    return this.notBuilt(subject, reason);
  }

  /** No figure is known, and why. */
  private notBuilt(subject: Subject, { reason, span }: UnknownPart): ModelEstimate {
    const type = this.shared()
      .moduleClasses()
      .find(({ name }) => name === subject.className);
    return {
      name: subject.className ?? subject.text,
      span: plainSpan(subject.span),
      classSpan: plainSpan(type?.node.name),
      parameters: { count: 0, bytes: 0, trainable: 0 },
      buffers: { bytes: 0 },
      gradients: { bytes: 0 },
      optimizer: null,
      saved: null,
      peak: null,
      complete: false,
      notBuilt: true,
      unknown: [unknownPart(reason, span)],
      assumptions: [],
    };
  }

  private assemble(
    subject: Subject,
    built: Built,
    ran: TracedStep | undefined,
    steps?: ModelSteps,
    held = heldBy(built.model),
  ): ModelEstimate {
    const { program, model, iteration } = built;
    // Where tensors may be smaller than they are taken for, the figures are no lower bound either.
    if (this.setup.defaultType?.value === "narrower") return this.notBuilt(subject, otherType(this.setup));
    const measure = ran?.measure;
    const isTraining = (this.setup.mode?.value ?? "train") === "train";
    const left = measure?.backward === undefined ? expectedGradients(iteration) : measure;
    const states = statesOf(held, this.setup, left);
    const { device, needs } = states;
    const unknown = notUnderstood(this.setup, built, ran, states);
    if (measure === undefined && left !== undefined && left.stepped.length < held.trainable.length)
      unknown.push({ span: undefined, reason: message(unknownReasons.unstepped) });
    const isUnderstood = unknown.length === 0;
    const peak = measure === undefined ? null : peakOf(measure, states, needs, this.setup);
    if (measure !== undefined && peak !== null)
      this.step = () => stepTimeline(measure, states, needs, this.setup, peak);
    const estimate: ModelEstimate = {
      name: model.type.name,
      ...placeOf(subject, model),
      parameters: { count: states.count, bytes: device.parameters, trainable: states.trainable },
      buffers: { bytes: device.buffers },
      gradients: { bytes: device.gradients },
      optimizer: needs === undefined ? null : { name: needs.name, bytes: device.optimizer },
      ...(states.host > 0 ? { host: states.host } : {}),
      saved: measure === undefined ? null : this.savedBytes(measure, steps),
      peak,
      complete: isUnderstood && (peak === null || !isTraining || needs !== undefined),
      ...(iteration !== undefined && iteration.models.length > 1
        ? { models: iteration.models.map((one) => weightsOf(subject, one)) }
        : {}),
      ...(missingParts(built).length > 0 ? { missesParts: true } : {}),
      unknown,
      assumptions: assumptionsOf(this.setup, {
        subject,
        ran: measure !== undefined,
        isIteration: iteration !== undefined,
        hasDerivedTarget: measure?.hasDerivedTarget ?? false,
        attention: ran?.attention ?? [],
        optimizer: needs,
        assumed: program.interpreter.assumed,
      }),
      layers: layersOf(model, measure?.calls),
      calls: measure?.calls?.allCalls().map((call) => ({ ...call, span: plainSpan(call.span) })) ?? [],
    };
    // Last, since it runs the model; and for the trained one only, since it costs a forward.
    if (measure === undefined) {
      const example = subject === this.subject?.value ? exampleInput(calledIn(built), this.setup) : undefined;
      unknown.push(inputUnknown(this.setup, example));
    }
    return estimate;
  }

  /** What one more sample adds takes a step of its own, run when somebody asks: the one that the largest micro-batch takes. */
  private savedBytes({ saved }: StepMeasure, steps: ModelSteps | undefined): ModelEstimate["saved"] {
    let known: number | undefined;
    const perSample = (): number => {
      if (steps !== undefined && steps === this.steps) this.largestBatch();
      return steps?.savedPerSample() ?? 0;
    };
    return {
      bytes: saved,
      get perSample() {
        return (known ??= perSample());
      },
    };
  }
}

/** The micro-batch that the script's loader gives, where nothing else says it. */
function withBatch(setup: TrainingSetup, batch: number | undefined): TrainingSetup {
  if (setup.batch !== undefined || batch === undefined) return setup;
  const span = setup.iteration?.span;
  return { ...setup, batch: { value: batch, from: "script", ...(span === undefined ? {} : { span }) } };
}

/** The models of an iteration as what an estimate is about; it stands where the first of them is made. */
function subjectOf({ model, models }: ScriptIteration, { iteration }: TrainingSetup): Subject {
  const span = models.find((one) => one.span !== undefined)?.span ?? iteration?.span ?? { start: 0, end: 0 };
  return {
    span,
    from: "script",
    text: model.type.name,
    className: models.length === 1 ? model.type.name : undefined,
    build: () => model,
  };
}

/** Of an iteration's models the one that is trained, where there is one only: a header's input would be of its calls. */
function calledIn(built: Built): Built {
  const [trained, ...others] = built.iteration?.trainedModels ?? [];
  return trained === undefined || others.length > 0 ? built : { ...built, model: trained };
}

/** One of an iteration's models by itself. */
function weightsOf(subject: Subject, model: ObjectValue): ModelWeights {
  const { parameterBytes, bufferBytes } = heldBy(model);
  const place = placeOf(model.span === undefined ? subject : { ...subject, span: model.span }, model);
  return {
    ...place,
    parameters: { bytes: parameterBytes },
    buffers: { bytes: bufferBytes },
    complete: unknownParts(model).length === 0,
  };
}

/** What a step of an iteration leaves that is not followed: a gradient for all that an optimizer of the script has. */
function expectedGradients(iteration: ScriptIteration | undefined): LeftGradients | undefined {
  const steps = iteration?.expectedSteps;
  const stepped = (steps ?? []).flatMap(({ groups }) => groups.flatMap(({ tensors }) => tensors));
  return stepped.length === 0 ? undefined : { gradients: ownBytes(stepped), stepped, steps };
}

/** That no step was simulated, where the script left its input open, and what a header could say of it. */
function inputUnknown({ inputsUnknown }: TrainingSetup, example: ExampleInput | undefined): UnknownPart {
  const span = inputsUnknown?.span;
  const because = inputsUnknown === undefined ? undefined : rootOf(inputsUnknown.reason);
  if (example === undefined) {
    if (because === undefined) return { span: undefined, reason: message(unknownReasons.input) };
    return unknownPart(message(unknownReasons.inputBecause, { reason: because }), span);
  }
  // With the argument the script says its input itself.
  if (because?.text === unknownReasons.commandLine)
    return unknownPart(message(unknownReasons.inputBecause, { reason: because }), span);
  const { kind, entries } = example;
  const keys = entries.join(", ");
  const isOwn = kind === "data" && because !== undefined;
  const reason = isOwn
    ? message(unknownReasons.inputExampleBecause, { reason: because, keys })
    : message(inputExampleTexts[kind], { keys });
  return { span, reason, header: entries };
}

const inputExampleTexts = {
  text: unknownReasons.inputExample,
  images: unknownReasons.inputExampleImages,
  data: unknownReasons.inputExampleData,
} satisfies Record<ExampleInput["kind"], MessageText>;
