/** Ways through a script to a place deep in it: calls that lead there, and the frames on the way. */
import type {
  Call,
  Expression,
  For,
  FunctionDefinition,
  Lambda,
  Node,
  Statement,
  With,
} from "../../python/tree";
import { isUnknown, type Unknown } from "../unknown";
import { CallArguments } from "./arguments";
import { assign } from "./assign";
import { evaluateArguments } from "./calls";
import { Frame } from "./frame";
import { bind } from "./functions";
import { frameOf, precedingIn, prepare } from "./in-place";
import { enteredBy } from "./statements";
import { noteSizes, type BatchSampler, type Interpreter } from "./interpreter";
import { itemsOf, iterate } from "./iteration";
import { BoundMethod, FunctionValue, PartialValue, TupleValue, type Value } from "./values";

/** A call on the way and the function of the file that it runs. */
export interface CallOnTheWay {
  readonly call: Call;
  readonly target: FunctionDefinition | Lambda;
  /** The call starts processes that run the function: `mp.spawn(worker, args=(…))`. */
  readonly launch?: Launch | undefined;
}

/** How a launcher runs a function: with what it is given for it, behind the process's number where it passes that. */
export interface Launch {
  /** The function among the launcher's arguments, and what it is given. */
  readonly callee: Expression;
  readonly given: Expression | undefined;
  readonly passesRank: boolean;
}

/** The way to a call: where it begins (the module's own code unless said), and the calls that lead there. */
export interface WayToCall {
  readonly root: FunctionDefinition | Lambda | undefined;
  readonly through: readonly CallOnTheWay[];
  readonly call: Call;
}

/** What is asked at the end of the way, in the frame of the call. */
export type AtTheEnd = (interpreter: Interpreter, call: Call) => CallArguments | Unknown;

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
  before(way: Pick<WayToCall, "root" | "through">, place: Node): Unknown | undefined {
    const fault = this.into(way);
    if (fault === undefined) this.approach(place);
    return fault;
  }

  /** Steps into the functions on a way. Unknown where one of them cannot be stepped into. */
  into({ root, through }: Pick<WayToCall, "root" | "through">): Unknown | undefined {
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
      if (one.holder.kind === "With" && one.holder.body.includes(one.child as Statement))
        this.bindEntered(one.holder);
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

  /** What a block is entered with gets its names: `with tqdm(loader) as bar:`. What has no name is not entered. */
  private bindEntered({ items }: With): void {
    const { interpreter } = this;
    for (const item of items) {
      const { target } = item;
      if (target === undefined) continue;
      this.allow();
      interpreter.skipForward = true;
      const entered = interpreter.guard(() => enteredBy(interpreter, item));
      interpreter.guard(() => assign(interpreter, target, entered));
      interpreter.skipForward = false;
    }
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
  private enter({ call, target, launch }: CallOnTheWay): Value {
    const { interpreter } = this;
    this.allow();
    interpreter.skipForward = true;
    const callee = interpreter.guard(() => interpreter.evaluate(launch?.callee ?? call.callee));
    const args = interpreter.guard(() =>
      launch === undefined ? evaluateArguments(interpreter, call) : this.argumentsOf(launch),
    );
    interpreter.skipForward = false;
    if (isUnknown(args)) return args;
    // A decorator may have filled arguments in: `@hydra.main` does.
    const filled = callee instanceof PartialValue ? callee : undefined;
    const called = filled?.callee ?? callee;
    const method = called instanceof BoundMethod ? called.method : called;
    const own = target.kind === "FunctionDefinition" ? interpreter.undecorated.get(target) : undefined;
    const found = method instanceof FunctionValue && method.node === target ? method : own;
    if (found === undefined)
      return isUnknown(callee) ? callee : interpreter.unknown("call", call, { name: "" });
    const frame = new Frame("function", found.closure, found);
    interpreter.references.retain(frame);
    const all = filled === undefined ? args : joinedArguments(filled.args, args);
    const given = called instanceof BoundMethod ? all.withReceiver(called.receiver) : all;
    const fault = interpreter.guard(() => bind(interpreter, found, given, frame, call));
    if (isUnknown(fault)) return fault;
    if (!interpreter.isHidden) interpreter.callSpan = call;
    // for good: the walk does not come back
    if (found.closure.file !== undefined) interpreter.enterOtherFile();
    noteSizes(this.sampler, frame);
    this.stepInto(frame);
    return found;
  }

  /** The first of the processes stands for all of them. */
  private argumentsOf({ given, passesRank }: Launch): CallArguments | Unknown {
    const { interpreter } = this;
    const value = given === undefined ? new TupleValue([]) : interpreter.evaluate(given);
    const items = itemsOf(interpreter, value, given);
    return isUnknown(items) ? items : new CallArguments(passesRank ? [0, ...items] : items);
  }
}

function joinedArguments(first: CallArguments, more: CallArguments): CallArguments {
  return new CallArguments(
    [...first.positional, ...more.positional],
    new Map([...first.keywords, ...more.keywords]),
    more.unknownKeywords ?? first.unknownKeywords,
  );
}
