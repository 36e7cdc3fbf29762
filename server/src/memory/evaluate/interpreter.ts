/**
 * The bounded evaluator: Python statements and expressions in, values out. It has no effects but on its own values and
 * on the execution it traces, and it always ends: steps, depth and sizes are limited.
 */
import { message, type Message, type MessageValue } from "../../messages/message";
import { unknownReasons, type UnknownReason } from "../../messages/estimate";
import type { Module, Span, Statement } from "../../python/tree";
import { isUnknown, Unknown } from "../unknown";
import type { Execution, Location } from "../tape";
import type { Tensor } from "../tensor";
import type { CallRecorder } from "./call-records";
import { callValue } from "./calls";
import type { CallArguments } from "./arguments";
import { evaluateExpression } from "./expressions";
import { EvaluationStopped, PythonError } from "./errors";
import { Files } from "./files";
import { Frame } from "./frame";
import { Library } from "./library/library";
import { rootOf } from "./reasons";
import type { TrainingTrace } from "./training/trace";
import { References } from "./references";
import { Allowance, type World } from "./world";
import { executeStatement, type Completion } from "./statements";
import type { Expression } from "../../python/tree";
import { typeName } from "./operations";
import { ObjectValue, type ClassValue, type FunctionValue, type Value } from "./values";

export interface Limits {
  readonly steps: number;
  readonly depth: number;
}

/** Some ten times what the largest of the measured models takes. */
export const defaultLimits: Limits = { steps: 500_000, depth: 450 };

/** How loaders are sampled: `scale` times as many samples as they say, and the batch sizes that they said. */
export interface BatchSampler {
  scale: number;
  readonly sizes: Set<number>;
  /** True while the loop around the place is entered: there a loader may be gone through for its first batch. */
  isEntering: boolean;
  /** Values of variables that are called a batch size: where no loader makes the batches, they tell which dimension that is. */
  readonly named: Set<number>;
}

const sizeName = /^(train_?|micro_?)?(batch(_?size)?|bsz?|n_?batch(es)?|micro_?batch(_?size)?)$/i;

export function noteSizes(sampler: BatchSampler, frame: Frame): void {
  for (const [name, value] of frame.variables)
    if (typeof value === "number" && sizeName.test(name)) sampler.named.add(value);
}

export class Interpreter {
  readonly references: References;
  readonly library: Library;
  readonly files: Files;
  readonly globals: Frame;
  frame: Frame;
  /** Nodes evaluated so far, and how many there may be. */
  steps = 0;
  stepLimit: number;
  depth = 0;
  /** What cost the answer something, by place and reason. */
  readonly noted = new Map<string, Unknown>();
  /** Tensors that are `nn.Parameter`s. */
  readonly parameterTensors = new WeakSet<Tensor>();
  /** Plain values that the code has set on tensors: `parameter.is_norm = True`. */
  readonly tensorAttributes = new WeakMap<Tensor, Map<string, Value>>();
  /** Tensors that are `nn.Buffer`s. */
  readonly bufferTensors = new WeakSet<Tensor>();
  /** While the top level of the file runs, models are built but not called. */
  skipForward = false;
  /** Unknown results of calls: they may be modules. */
  readonly callResults = new WeakSet<Unknown>();
  /** Those of them that were given a model: wrappers of it, perhaps. */
  readonly givenModels = new WeakSet<Unknown>();
  /**
   * Those of them that the code treats as models: it asks them for parameters, puts them into a mode, or calls what was given
   * one; with the name under which it first does. What comes of them is the same unknown under other names.
   */
  readonly modelLike = new WeakMap<Unknown, string | undefined>();
  /** Set while statements of the script itself run, outside of a model: what may change a model is noted. */
  notesChanges = false;
  /** What had to be assumed, e.g. that a package is not installed. */
  readonly assumed = new Map<string, Span | undefined>();
  /** The statement of the user's file that is being executed. */
  statement: Statement | undefined;
  /** The call of the user's file that is being evaluated. */
  callSpan: Span | undefined;
  /** Path of the module whose forward runs. */
  modulePath = "";
  /** Paths of the modules of the model that runs, once it is built. */
  modulePaths: ReadonlyMap<ObjectValue, string> = new Map();
  /** Modules that run as checkpointed segments although the code does not say so. */
  checkpointed: ReadonlySet<ObjectValue> = new Set();
  /** Functions of the top level as they are without their decorators. */
  readonly undecorated = new Map<Statement, FunctionValue>();
  /** Set while a forward is traced whose calls are to be told apart. */
  recorder: CallRecorder | undefined;
  /** False while the top level of the file runs: models are built, but nothing is trained. */
  tracing = false;
  /** Set while a script's batches are asked for; elsewhere a loader gives none. */
  sampler: BatchSampler | undefined;
  /** An attribute of a module was set while a forward was traced. */
  wroteState = false;
  /** A node of the user's own keeps tensors as long as the graph is there, backward or not. */
  keptInGraph = false;
  /** Set while an iteration of the script's own training loop is run. */
  training: TrainingTrace | undefined;
  /** The model is trained by transformers' Trainer, which keeps the loss alone. */
  isTrainers = false;
  /** Optimizers that were made. */
  readonly optimizers = new Set<ObjectValue>();
  /** Where a model was given to DistributedDataParallel, which keeps buckets for its gradients. */
  replicated: { readonly span: Span | undefined } | undefined;
  /** Storages and modules that the script has put on its device by name. */
  readonly placed = new WeakSet<object>();
  /** Modules that the script has put into the host's memory by name. */
  readonly onHost = new Set<ObjectValue>();
  /** The script names a GPU as the device of a model: what it moves to the CPU is not on it. */
  namesGpu = false;
  private readonly allowance: Allowance;
  /** Nesting of code that is not the user's own: spans stay at the call that led there. */
  private hidden = 0;

  constructor(
    readonly execution: Execution,
    readonly module: Module,
    readonly limits: Limits = defaultLimits,
    readonly world: World = {},
  ) {
    this.allowance = world.allowance ?? new Allowance();
    this.stepLimit = limits.steps;
    this.references = new References(execution);
    this.library = new Library(this);
    this.files = new Files(this);
    this.globals = new Frame("module", undefined, undefined);
    this.references.retain(this.globals);
    this.frame = this.globals;
  }

  get location(): Location {
    return { span: this.callSpan, modulePath: this.modulePath };
  }

  /** Counts steps of evaluation: one for a node, more for what costs more. */
  tick(cost = 1): void {
    this.steps += cost;
    if (this.steps > this.stepLimit || !this.allowance.take(cost)) {
      throw new EvaluationStopped(this.unknown("steps", this.callSpan, { steps: this.steps }));
    }
  }

  /** The value of an expression, kept alive as one temporary. */
  evaluate(node: Expression): Value {
    this.tick();
    if (node.kind === "Integer" || node.kind === "Boolean") return node.value;
    if (node.kind === "None") return null;
    if (++this.depth > this.limits.depth) {
      this.depth--;
      return this.note(this.unknown("depth", node));
    }
    const mark = this.references.mark();
    const value = evaluateExpression(this, node);
    this.references.settle(mark, value);
    this.depth--;
    return value;
  }

  execute(body: readonly Statement[]): Completion {
    for (const statement of body) {
      this.tick();
      const mark = this.references.mark();
      const outer = this.statement;
      if (this.hidden === 0) this.statement = statement;
      const completion = executeStatement(this, statement);
      this.statement = outer;
      this.references.releaseTo(mark);
      if (completion !== undefined) return completion;
    }
    return undefined;
  }

  call(callee: Value, args: CallArguments, span: Span | undefined): Value {
    return callValue(this, callee, args, span);
  }

  /** Runs code that is not in the user's file. */
  hide<Result>(run: () => Result): Result {
    this.hidden++;
    try {
      return run();
    } finally {
      this.hidden--;
    }
  }

  /** A function of another file begins; the answer is for `leaveFunction`. */
  enterOtherFile(): number {
    return this.hidden++;
  }

  /** The place in the analysed file that stands for a place in the running code. */
  ownSpan(span: Span | undefined): Span | undefined {
    return this.hidden > 0 ? this.callSpan : span;
  }

  /** A function of the user's file begins, whoever called it; the answer is for `leaveFunction`. */
  enterUserCode(): number {
    const outer = this.hidden;
    this.hidden = 0;
    return outer;
  }

  leaveFunction(outer: number): void {
    this.hidden = outer;
  }

  get isHidden(): boolean {
    return this.hidden > 0;
  }

  unknown(
    reason: UnknownReason,
    span: Span | undefined,
    values: Readonly<Record<string, MessageValue>> = {},
  ): Unknown {
    return new Unknown(message(unknownReasons[reason], values), this.hidden > 0 ? this.callSpan : span);
  }

  /** Remembers that something not understood changes the answer. */
  note(unknown: Unknown): Unknown {
    const key = `${unknown.span?.start}:${shallowText(unknown.reason)}`;
    if (!this.noted.has(key)) this.noted.set(key, unknown);
    return unknown;
  }

  /** Something depends on a value that is not known. */
  noteCondition(reason: "condition" | "loop", value: Value, span: Span): Unknown {
    const because = isUnknown(value) ? rootOf(value.reason) : message(unknownReasons.tensorValue);
    return this.note(this.unknown(reason, span, { reason: because }));
  }

  /** Raises a Python exception of a builtin type. */
  raise(type: string, text: string, span: Span | undefined = this.callSpan): never {
    throw this.error(type, text, span);
  }

  error(type: string, text: string, span: Span | undefined = this.callSpan): PythonError {
    const exceptionType = this.library.exception(type);
    const exception = new ObjectValue(exceptionType);
    exception.payload = text;
    return new PythonError(exception, this.reasonOfError(exceptionType, text, span));
  }

  reasonOfError(type: ClassValue, text: string, span: Span | undefined): Unknown {
    return text === ""
      ? this.unknown("raisedBare", span, { type: type.name })
      : this.unknown("raised", span, { type: type.name, text });
  }

  /** Runs `attempt`; when Python code in it raises or the limits end it, cleans up and gives the Unknown. */
  guard<Result>(attempt: () => Result): Result | Unknown {
    const state = this.state();
    try {
      return attempt();
    } catch (error) {
      this.restore(state);
      if (error instanceof PythonError) return error.unknown;
      if (error instanceof EvaluationStopped) return error.unknown;
      if (error instanceof RangeError) return this.unknown("depth", this.callSpan);
      return this.unknown("internal", this.callSpan, { error: String(error) });
    }
  }

  /** What must be put back when an exception is caught. */
  state(): EvaluationState {
    const { frame, depth, statement, callSpan, modulePath, hidden } = this;
    return { frame, depth, statement, callSpan, modulePath, hidden, mark: this.references.mark() };
  }

  restore(state: EvaluationState): void {
    this.frame = state.frame;
    this.depth = state.depth;
    this.statement = state.statement;
    this.callSpan = state.callSpan;
    this.modulePath = state.modulePath;
    this.hidden = state.hidden;
    this.references.releaseTo(state.mark);
  }

  typeName(value: Value): string {
    return typeName(value);
  }
}

/** A reason without the reasons it rests on. */
function shallowText(reason: Message): string {
  const values = Object.values(reason.values).map((value) =>
    typeof value === "object" ? value.text.en : value,
  );
  return `${reason.text.en} ${values.join(" ")}`;
}

export interface EvaluationState {
  readonly frame: Frame;
  readonly depth: number;
  readonly statement: Statement | undefined;
  readonly callSpan: Span | undefined;
  readonly modulePath: string;
  readonly hidden: number;
  readonly mark: number;
}
