/**
 * Walks to a call deep in a script, as a run of it would: from the module into the functions on the way, everything before
 * the place run in each, every loop around it at its first item. What it is called with there is what the model gets.
 */
import type { Call, For, FunctionDefinition, Lambda, Module, Node, Statement } from "../../python/tree";
import { Execution } from "../tape";
import { isUnknown, type Unknown } from "../unknown";
import type { CallArguments } from "./arguments";
import { assign } from "./assign";
import { evaluateArguments } from "./calls";
import { Frame } from "./frame";
import { bind } from "./functions";
import { frameOf, precedingIn, prepare } from "./in-place";
import { noteSizes, type BatchSampler, type Interpreter } from "./interpreter";
import { iterate } from "./iteration";
import { Program } from "./program";
import { BoundMethod, FunctionValue, type Value } from "./values";
import type { World } from "./world";

/** A call on the way and the function of the file that it runs. */
export interface CallOnTheWay {
  readonly call: Call;
  readonly target: FunctionDefinition | Lambda;
}

/** The way to a call: where it begins (the module's own code unless said), and the calls that lead there. */
export interface WayToCall {
  readonly root: FunctionDefinition | Lambda | undefined;
  readonly through: readonly CallOnTheWay[];
  readonly call: Call;
}

/** What is asked at the end of the way, in the frame of the call. */
export type AtTheEnd = (interpreter: Interpreter, call: Call) => CallArguments | Unknown;

/** What the call at the end of the way is given, unless something else is asked; Unknown where that cannot be told. */
export function argumentsAt(
  module: Module,
  way: WayToCall,
  sampler: BatchSampler,
  world: World,
  asked: AtTheEnd = evaluateArguments,
): CallArguments | Unknown {
  const first = way.through[0]?.call ?? way.call;
  const execution = new Execution({ device: "cuda", attention: "auto" });
  const begun = way.root === undefined ? moduleBefore(module, first) : module;
  const program = new Program(execution, begun, undefined, world);
  return program.interpreter.guard(() => new Walk(program.interpreter, sampler, asked).to(way));
}

/** The module up to the statement that a node stands in. */
export function moduleBefore(module: Module, node: Node): Module {
  const index = module.body.findIndex(
    (statement) => statement.start <= node.start && node.end <= statement.end,
  );
  return { ...module, body: module.body.slice(0, Math.max(0, index)) };
}

/** The frames on a way, each with everything before the place run. */
export class Walk {
  /** Of the functions that were stepped into, outermost first; the module's own is not among them. */
  readonly frames: Frame[] = [];

  /** `runsForwards`: what the loops on the way compute before the place may come from models. */
  constructor(
    private readonly interpreter: Interpreter,
    private readonly sampler: BatchSampler,
    private readonly asked: AtTheEnd = evaluateArguments,
    private readonly runsForwards = false,
  ) {}

  to(way: WayToCall): CallArguments | Unknown {
    const fault = this.before(way, way.call);
    if (fault !== undefined) return fault;
    this.allow();
    return this.asked(this.interpreter, way.call);
  }

  /** Runs everything up to a place at the end of a way. Unknown where a function on the way cannot be stepped into. */
  before({ root, through }: Pick<WayToCall, "root" | "through">, place: Node): Unknown | undefined {
    const { interpreter } = this;
    interpreter.sampler = this.sampler;
    noteSizes(this.sampler, interpreter.globals);
    if (root?.kind === "FunctionDefinition") this.stepInto(frameOf(interpreter, root));
    else interpreter.frame = interpreter.globals;
    for (const step of through) {
      this.approach(step.call);
      const callee = this.enter(step);
      if (isUnknown(callee)) return callee;
    }
    this.approach(place);
    return undefined;
  }

  private stepInto(frame: Frame): void {
    this.interpreter.frame = frame;
    this.frames.push(frame);
  }

  private allow = (): void => {
    this.interpreter.stepLimit = this.interpreter.steps + this.interpreter.limits.steps;
  };

  /** Runs what comes before a node in the function of the current frame, block by block. */
  private approach(node: Node): void {
    const holders: { readonly holder: Node; readonly child: Node }[] = [];
    let child = node;
    let holder = node.parent;
    while (holder !== undefined && holder.kind !== "Module") {
      holders.unshift({ holder, child });
      if (holder.kind === "FunctionDefinition" || holder.kind === "Lambda") break;
      child = holder;
      holder = holder.parent;
    }
    for (const one of holders) {
      if (one.holder.kind === "For" && one.holder.body.includes(one.child as Statement))
        this.bindFirst(one.holder);
      const isLoop = one.holder.kind === "For" || one.holder.kind === "While";
      const statements = precedingIn(one.holder, one.child);
      prepare(this.interpreter, statements, this.allow, !(isLoop && this.runsForwards));
    }
  }

  /** The loop's target becomes the first item that it runs over. */
  private bindFirst(loop: For): void {
    const { interpreter } = this;
    this.allow();
    this.sampler.isEntering = true;
    interpreter.skipForward = true;
    const item = interpreter.guard(() => this.firstOf(interpreter.evaluate(loop.iterable), loop));
    this.sampler.isEntering = false;
    interpreter.guard(() => assign(interpreter, loop.target, item));
    interpreter.skipForward = false;
  }

  private firstOf(iterable: Value, loop: For): Value {
    const items = iterate(this.interpreter, iterable, loop.iterable);
    if (isUnknown(items)) return items;
    for (const item of items) {
      this.interpreter.references.retain(item);
      return item;
    }
    return this.interpreter.unknown("loop", loop.iterable, { reason: "0" });
  }

  /** Steps into the function that a call runs: its frame becomes the current one. */
  private enter({ call, target }: CallOnTheWay): Value {
    const { interpreter } = this;
    this.allow();
    interpreter.skipForward = true;
    const callee = interpreter.guard(() => interpreter.evaluate(call.callee));
    const args = interpreter.guard(() => evaluateArguments(interpreter, call));
    interpreter.skipForward = false;
    if (isUnknown(args)) return args;
    const method = callee instanceof BoundMethod ? callee.method : callee;
    const own = target.kind === "FunctionDefinition" ? interpreter.undecorated.get(target) : undefined;
    const found = method instanceof FunctionValue && method.node === target ? method : own;
    if (found === undefined)
      return isUnknown(callee) ? callee : interpreter.unknown("call", call, { name: "" });
    const frame = new Frame("function", found.closure, found);
    interpreter.references.retain(frame);
    const given = callee instanceof BoundMethod ? args.withReceiver(callee.receiver) : args;
    const fault = interpreter.guard(() => bind(interpreter, found, given, frame, call));
    if (isUnknown(fault)) return fault;
    if (!interpreter.isHidden) interpreter.callSpan = call;
    // for good: the walk does not come back
    if (found.closure.file !== undefined) interpreter.enterOtherFile();
    noteSizes(this.sampler, frame);
    this.stepInto(frame);
    return found;
  }
}
