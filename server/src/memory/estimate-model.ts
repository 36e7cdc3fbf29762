/** Estimates of the models of one file, computed on first use and kept. */
import { message } from "../messages/message";
import { unknownReasons } from "../messages/estimate";
import type { Module } from "../python/tree";
import type { Assumption, ModelEstimate, Timeline, UnknownPart } from "./estimate";
import { assumptionsOf } from "./estimate-assumptions";
import { layersOf } from "./estimate-layers";
import { needsOf, type OptimizerNeeds } from "./estimate-optimizer";
import { buildModel, classSubject, trainedSubject, type Subject } from "./estimate-subject";
import { namedTensors, unknownParts } from "./evaluate/nn/state";
import { Program } from "./evaluate/program";
import { castStates, runStep, type StepMeasure, type StepPlan } from "./evaluate/step";
import type { ObjectValue } from "./evaluate/values";
import type { TrainingSetup } from "./setup";
import { Execution, roundedUp } from "./tape";
import { elementCount, type Tensor } from "./tensor";
import type { Unknown } from "./unknown";

/** A model that was built, in the program that built it. */
export interface Built {
  readonly program: Program;
  readonly model: ObjectValue;
}

export function newProgram(module: Module, setup: TrainingSetup): Program {
  return new Program(new Execution({ device: "cuda", attention: setup.attention?.value ?? "auto" }), module);
}

/** Builds the subject's model in a program of its own, ready for a step; undefined when it cannot be built. */
export function build(module: Module, setup: TrainingSetup, subject: Subject): Built | undefined {
  const program = newProgram(module, setup);
  const model = buildModel(program, subject);
  if ("reason" in model) return undefined;
  program.adopt(model);
  castStates(program, model, setup.precision?.value ?? "fp32");
  return { program, model };
}

/** The step that the setup describes, at a micro-batch; undefined when its input is not known. */
export function planOf(setup: TrainingSetup, batch = setup.batch?.value ?? 1): StepPlan | undefined {
  if (setup.inputs === undefined) return undefined;
  return {
    batch,
    inputs: setup.inputs.value,
    targets: setup.targets?.value ?? [],
    loss: setup.loss?.value ?? "sum",
    precision: setup.precision?.value ?? "fp32",
    mode: setup.mode?.value ?? "train",
    checkpoint: setup.checkpoint?.value ?? "none",
  };
}

export class Estimator {
  private program: Program | undefined;
  private subject: { readonly value: Subject | undefined } | undefined;
  private trained: { readonly value: ModelEstimate | undefined } | undefined;
  private readonly classes = new Map<string, ModelEstimate | undefined>();
  private points: Timeline = [];

  constructor(
    private readonly module: Module,
    private readonly setup: TrainingSetup,
  ) {}

  all(): readonly ModelEstimate[] {
    const first = this.trainedEstimate();
    const names = this.shared()
      .moduleClasses()
      .map(({ name }) => name);
    const others = names.filter((name) => name !== first?.name).map((name) => this.ofClass(name));
    return [first, ...others].filter((estimate) => estimate !== undefined);
  }

  ofClass(name: string): ModelEstimate | undefined {
    const trained = this.trainedEstimate();
    if (trained?.name === name) return trained;
    if (!this.classes.has(name)) this.classes.set(name, this.stateEstimate(name));
    return this.classes.get(name);
  }

  timeline(): Timeline {
    this.trainedEstimate();
    return this.points;
  }

  /** One program for looking around and for estimates of states alone. */
  private shared(): Program {
    return (this.program ??= newProgram(this.module, this.setup));
  }

  trainedModel(): Subject | undefined {
    this.subject ??= { value: trainedSubject(this.shared(), this.module, this.setup) };
    return this.subject.value;
  }

  private trainedEstimate(): ModelEstimate | undefined {
    this.trained ??= { value: this.estimateTrained() };
    return this.trained.value;
  }

  private estimateTrained(): ModelEstimate | undefined {
    const subject = this.trainedModel();
    const built = subject === undefined ? undefined : build(this.module, this.setup, subject);
    if (subject === undefined || built === undefined) return undefined;
    const plan = planOf(this.setup);
    if (plan === undefined) return this.assemble(subject, built, undefined, 0);
    const measure = runStep(built.program, built.model, plan, true);
    this.points = measure.timeline;
    return this.assemble(subject, built, measure, this.perSample(subject, plan, measure));
  }

  /** Saved bytes that one more sample adds, from a second micro-batch. */
  private perSample(subject: Subject, plan: StepPlan, measure: StepMeasure): number {
    const second = 2 * plan.batch;
    const again = build(this.module, this.setup, subject);
    if (again === undefined) return 0;
    const other = runStep(again.program, again.model, { ...plan, batch: second, forwardOnly: true });
    return (other.saved - measure.saved) / (second - plan.batch);
  }

  private stateEstimate(name: string): ModelEstimate | undefined {
    const program = this.shared();
    const subject = classSubject(program, name, "default");
    if (subject === undefined) return undefined;
    program.interpreter.noted.clear();
    const model = buildModel(program, subject);
    if ("reason" in model) return undefined;
    castStates(program, model, this.setup.precision?.value ?? "fp32");
    return this.assemble(subject, { program, model }, undefined, 0);
  }

  private assemble(
    subject: Subject,
    { program, model }: Built,
    measure: StepMeasure | undefined,
    perSample: number,
  ): ModelEstimate {
    const parameters = namedTensors(model, "parameters").map((one) => one.tensor);
    const trainable = parameters.filter((tensor) => tensor.requiresGrad);
    const isTraining = (this.setup.mode?.value ?? "train") === "train";
    const needs = isTraining ? needsOf(this.setup, trainable) : undefined;
    const notes = [
      ...unknownParts(model),
      ...program.noted(),
      ...(measure?.fault === undefined ? [] : [measure.fault]),
    ];
    const unknown = distinct(notes);
    if (needs?.fault !== undefined) unknown.push({ span: this.setup.optimizer?.span, reason: needs.fault });
    const isUnderstood = unknown.length === 0;
    if (measure === undefined) unknown.push({ span: undefined, reason: message(unknownReasons.input) });
    const states = statesOf(parameters, trainable, model, isTraining);
    const peak = measure === undefined ? null : peakOf(measure, states, needs, isTraining);
    const isOptimizerKnown = !isTraining || (needs !== undefined && needs.fault === undefined);
    const node = model.type.find((type) => type.node);
    return {
      name: model.type.name,
      span: subject.span,
      classSpan: node === undefined ? undefined : { start: node.name.start, end: node.name.end },
      parameters: { count: count(parameters), bytes: states.parameters, trainable: count(trainable) },
      buffers: { bytes: states.buffers },
      gradients: { bytes: measure?.backward === undefined ? states.gradients : measure.gradients },
      optimizer:
        needs === undefined || needs.fault !== undefined ? null : { name: needs.name, bytes: needs.state },
      saved: measure === undefined ? null : { bytes: measure.saved, perSample },
      peak,
      complete: isUnderstood && (peak === null || isOptimizerKnown),
      unknown,
      assumptions: this.assumptions(subject, program, measure, needs),
      layers: layersOf(model),
    };
  }

  private assumptions(
    subject: Subject,
    program: Program,
    measure: StepMeasure | undefined,
    needs: OptimizerNeeds | undefined,
  ): Assumption[] {
    return assumptionsOf(this.setup, {
      subject,
      ran: measure !== undefined,
      attention: program.execution.attentionKernels,
      optimizer: needs,
      assumed: program.interpreter.assumed,
    });
  }
}

interface States {
  readonly parameters: number;
  readonly buffers: number;
  readonly gradients: number;
}

function statesOf(
  parameters: readonly Tensor[],
  trainable: readonly Tensor[],
  model: ObjectValue,
  isTraining: boolean,
): States {
  return {
    parameters: storageBytes(parameters),
    buffers: storageBytes(namedTensors(model, "buffers").map((one) => one.tensor)),
    gradients: isTraining ? tensorBytes(trainable) : 0,
  };
}

/** Bytes of the distinct storages. */
function storageBytes(tensors: readonly Tensor[]): number {
  let bytes = 0;
  for (const storage of new Set(tensors.map((tensor) => tensor.storage))) bytes += storage.bytes;
  return bytes;
}

/** A gradient has the shape and the dtype of its parameter. */
function tensorBytes(tensors: readonly Tensor[]): number {
  return tensors.reduce((bytes, tensor) => bytes + tensor.storage.bytes, 0);
}

function count(tensors: readonly Tensor[]): number {
  return tensors.reduce((total, tensor) => total + elementCount(tensor.shape), 0);
}

/** The highest of forward, backward and step, the optimizer's state on top of each. */
function peakOf(
  measure: StepMeasure,
  states: States,
  needs: OptimizerNeeds | undefined,
  isTraining: boolean,
): ModelEstimate["peak"] {
  const state = needs?.state ?? 0;
  const stateAllocated = needs?.stateAllocated ?? roundedUp(state);
  const { forward, backward } = measure;
  const place = (peak: typeof forward, phase: "forward" | "backward") => ({
    bytes: peak.live + state,
    allocated: peak.allocated + stateAllocated,
    phase,
    span: peak.location.span,
    operator: peak.operator,
    modulePath: peak.location.modulePath,
  });
  const phases: NonNullable<ModelEstimate["peak"]>[] = [place(forward, "forward")];
  if (backward !== undefined) phases.push(place(backward, "backward"));
  if (isTraining) {
    // without a backward that could be followed, the step still holds all the states
    const held = states.parameters + states.buffers + states.gradients;
    const live = backward === undefined ? held : measure.liveAfterBackward;
    const allocated = backward === undefined ? held : measure.allocatedAfterBackward;
    phases.push({
      bytes: live + state + (needs?.temporary ?? 0),
      allocated: allocated + stateAllocated + (needs?.temporary ?? 0),
      phase: "step",
      span: undefined,
      operator: "optimizer.step",
      modulePath: "",
    });
  }
  return phases.reduce((highest, one) => (one.bytes > highest.bytes ? one : highest));
}

function distinct(unknown: readonly Unknown[]): UnknownPart[] {
  const found = new Map<string, UnknownPart>();
  for (const { reason, span } of unknown) {
    const inner = Object.values(reason.values).map((value) =>
      typeof value === "object" ? value.text.en : value,
    );
    const key = `${span?.start} ${reason.text.en} ${inner.join(" ")}`;
    if (!found.has(key))
      found.set(key, { span: span === undefined ? undefined : { start: span.start, end: span.end }, reason });
  }
  return [...found.values()];
}
