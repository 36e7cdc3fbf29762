/** A file as a program: its top level is run once, then models of it are built. */
import { unknownReasons } from "../../messages/estimate";
import { message } from "../../messages/message";
import type { ClassDefinition, Expression, Module, Span } from "../../python/tree";
import { roundedUp } from "../allocation-log";
import type { Execution, LiveBytes, TimelinePoint } from "../tape";
import { isUnknown, type Unknown } from "../unknown";
import { CallArguments } from "./arguments";
import { isModuleClass } from "./classes";
import { evaluateInPlace, trains } from "./in-place";
import { forget } from "./forget";
import type { Frame } from "./frame";
import { Interpreter, type BatchSampler, type Limits } from "./interpreter";
import { namedModules, tensorsOf } from "./nn/state";
import { isChange } from "./reasons";
import type { ObjectValue } from "./values";
import { ClassValue, FunctionValue, type Value } from "./values";
import { Walk, type WayToCall } from "./way";
import type { World } from "./world";

/** The top level may take this many steps altogether, and one statement of it this many. */
const topLevelSteps = 150_000;
const statementSteps = 60_000;

/** Live bytes of what is not the model's, by kind, together, and as CUDA rounds them. */
export interface OtherBytes extends LiveBytes {
  readonly live: number;
  readonly allocated: number;
}

const noBytes: OtherBytes = {
  parameters: 0,
  buffers: 0,
  inputs: 0,
  gradients: 0,
  saved: 0,
  temporary: 0,
  live: 0,
  allocated: 0,
};

export class Program {
  readonly interpreter: Interpreter;
  /** Bytes that are not the model's: other models of the file, data that the top level made. */
  private baseline: OtherBytes = noBytes;
  /** A forward leaves more behind than its output: the iteration before matters to the next. */
  leavesTraces = false;
  /** What the top level did, not understood, that may have changed a model. */
  readonly changes: Unknown[] = [];
  /** Of which steps the gradients are that the parameters hold; undefined where nothing is known of them. */
  gradientsOf: string | undefined;

  constructor(
    readonly execution: Execution,
    readonly module: Module,
    limits?: Limits,
    world?: World,
  ) {
    this.interpreter = new Interpreter(execution, module, limits, world);
    this.runTopLevel();
  }

  /** Runs every statement that can be run; what fails leaves its names unknown. */
  private runTopLevel(): void {
    const { interpreter } = this;
    interpreter.skipForward = true;
    interpreter.notesChanges = true;
    for (const statement of this.module.body) {
      interpreter.stepLimit = Math.min(interpreter.steps + statementSteps, topLevelSteps);
      // Nothing is trained: what a training loop leaves in its names is not known.
      if (trains(statement)) {
        const reason = interpreter.unknown("loop", statement, {
          reason: message(unknownReasons.tensorValue),
        });
        forget(
          interpreter,
          [statement],
          reason,
          (target) => target.kind === "Name" && !interpreter.globals.variables.has(target.id),
        );
        continue;
      }
      const fault = interpreter.guard(() => void interpreter.execute([statement]));
      if (isUnknown(fault)) forget(interpreter, [statement], fault);
    }
    interpreter.skipForward = false;
    interpreter.notesChanges = false;
    this.changes.push(...[...interpreter.noted.values()].filter(isChange));
    interpreter.noted.clear();
  }

  /** Live bytes that belong to the model and its step; `allocated` as CUDA rounds them. */
  get live(): number {
    return this.execution.live - this.baseline.live;
  }

  get allocated(): number {
    return this.execution.allocated - this.baseline.allocated;
  }

  get baselineLive(): number {
    return this.baseline.live;
  }

  get baselineAllocated(): number {
    return this.baseline.allocated;
  }

  /** A point of the step without what is not the model's. */
  ownPoint(point: TimelinePoint): TimelinePoint {
    const { baseline } = this;
    if (baseline === noBytes) return point;
    return {
      ...point,
      parameters: point.parameters - baseline.parameters,
      buffers: point.buffers - baseline.buffers,
      gradients: point.gradients - baseline.gradients,
      inputs: point.inputs - baseline.inputs,
      saved: point.saved - baseline.saved,
      temporary: point.temporary - baseline.temporary,
      allocated: point.allocated - baseline.allocated,
    };
  }

  /** A fresh allowance of steps for what comes next. */
  private allowSteps(): void {
    this.interpreter.stepLimit = this.interpreter.steps + this.interpreter.limits.steps;
  }

  /** The classes of the file that are `nn.Module`s, in source order. */
  moduleClasses(): { readonly name: string; readonly node: ClassDefinition; readonly type: ClassValue }[] {
    const found: { name: string; node: ClassDefinition; type: ClassValue }[] = [];
    for (const [name, value] of this.interpreter.globals.variables) {
      if (!(value instanceof ClassValue) || value.node === undefined || value.name !== name) continue;
      if (value.isImported) continue;
      if (isModuleClass(this.interpreter, value)) found.push({ name, node: value.node, type: value });
    }
    return found.sort((a, b) => a.node.start - b.node.start);
  }

  /** A function, class or value of the file. */
  global(name: string): Value | undefined {
    return this.interpreter.globals.variables.get(name);
  }

  isFunction(name: string): boolean {
    return this.global(name) instanceof FunctionValue;
  }

  /** Evaluates an expression over the file's names; `span` is where it stands in the file. */
  evaluate(expression: Expression, span: Span | undefined): Value {
    const { interpreter } = this;
    this.allowSteps();
    interpreter.callSpan = span;
    return interpreter.guard(() => interpreter.hide(() => this.hold(interpreter.evaluate(expression))));
  }

  /** Evaluates an expression of the file where it stands, with what the calls on the way there give. */
  evaluateInPlace(expression: Expression, way?: Pick<WayToCall, "root" | "through">): Value {
    const frame = way === undefined ? undefined : this.frameAt(way);
    return evaluateInPlace(this.interpreter, expression, () => this.allowSteps(), frame);
  }

  /** The frame that the calls of a way lead into; undefined where there are none or one of them is not understood. */
  private frameAt({ root, through }: Pick<WayToCall, "root" | "through">): Frame | undefined {
    const { interpreter } = this;
    if (through.length === 0) return undefined;
    const outer = interpreter.frame;
    const sampler: BatchSampler = { scale: 1, sizes: new Set(), isEntering: false, named: new Set() };
    const walk = new Walk(interpreter, sampler);
    const fault = interpreter.guard(() => walk.into({ root, through }));
    interpreter.frame = outer;
    interpreter.sampler = undefined;
    return fault === undefined ? walk.frames.at(-1) : undefined;
  }

  /** An instance of a class, its arguments left at their defaults. */
  instantiate(type: ClassValue, span: Span | undefined): Value {
    const { interpreter } = this;
    this.allowSteps();
    interpreter.callSpan = span;
    return interpreter.guard(() => this.hold(interpreter.call(type, new CallArguments([]), span)));
  }

  /** The program itself keeps the value. */
  private hold(value: Value): Value {
    this.interpreter.references.retain(value);
    return value;
  }

  /** What a function of the file makes; the program keeps it. */
  build(callee: Value, args: CallArguments): Value {
    const { interpreter } = this;
    this.allowSteps();
    interpreter.callSpan = undefined;
    return interpreter.guard(() => this.hold(interpreter.call(callee, args, undefined)));
  }

  /** Calls a value with the steps of one forward; Unknown when it could not be followed to its end. */
  call(callee: Value, args: CallArguments): Value {
    const { interpreter } = this;
    this.allowSteps();
    interpreter.tracing = true;
    const result = interpreter.guard(() => interpreter.call(callee, args, interpreter.callSpan));
    interpreter.tracing = false;
    return result;
  }

  /**
   * Learns the paths of a model's modules, for messages, and takes all that lives but is not its own off the figures: now,
   * or at an earlier moment.
   */
  adopt(model: ObjectValue, at: OtherBytes = this.liveNow()): void {
    const storages = new Set(
      [...tensorsOf(model, "parameters"), ...tensorsOf(model, "buffers")].map(({ storage }) => storage),
    );
    const other = { ...at };
    for (const { bytes, kind } of storages) {
      other.live -= bytes;
      other.allocated -= roundedUp(bytes);
      if (kind === "parameter") other.parameters -= bytes;
      else if (kind === "buffer") other.buffers -= bytes;
      else other.temporary -= bytes;
    }
    this.baseline = Object.values(other).every((bytes) => bytes === 0) ? noBytes : other;
    this.interpreter.modulePaths = new Map(namedModules(model).map(({ path, module }) => [module, path]));
  }

  private liveNow(): OtherBytes {
    const { execution } = this;
    return { ...execution.liveBytes(), live: execution.live, allocated: execution.allocated };
  }

  /** What was not understood since the top level ran. */
  noted(): Unknown[] {
    return [...this.interpreter.noted.values()];
  }
}
