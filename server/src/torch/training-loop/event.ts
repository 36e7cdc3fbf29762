/** The plain data of a traced training loop: what happens, where, and under which conditions. */
import type {
  Call,
  Expression,
  For,
  FunctionDefinition,
  If,
  Lambda,
  Match,
  Node,
  Statement,
  Try,
  While,
  With,
} from "../../python/tree";
import type { Framework } from "../frameworks";
import type { Certainty } from "../resolve";

export type LoopNode = For | While;

/** A repetition: what follows in the path runs once an iteration. */
export interface LoopPlace {
  readonly kind: "loop";
  readonly node: LoopNode;
}

/** An arm of an `if` or `match`. */
export interface BranchPlace {
  readonly kind: "branch";
  readonly node: If | Match;
  /** The condition; `undefined` for `match`. */
  readonly test: Expression | undefined;
  /** What the condition was for this arm. */
  readonly taken: boolean;
  /**
   * True for statements that stand behind the `if`, not in it, and run only because the other arm left the block
   * (`if …: continue`).
   */
  readonly behind: boolean;
}

export interface WithPlace {
  readonly kind: "with";
  readonly node: With;
}

/** An `except` clause: runs only when something failed. */
export interface HandlerPlace {
  readonly kind: "handler";
  readonly node: Try;
}

/** The step into a function of this file (or a closure given to `optimizer.step`). */
export interface CallPlace {
  readonly kind: "call";
  readonly call: Call;
  readonly target: FunctionDefinition | Lambda;
}

/** One level of the way from the beginning of a trace to an event. */
export type Place = LoopPlace | BranchPlace | WithPlace | HandlerPlace | CallPlace;

export type EventKind =
  | "backward"
  | "optimizer-step"
  /** Gradients are reset: `zero_grad()`, `p.grad = None`, `p.grad.zero_()`. */
  | "zeroing"
  | "clip"
  | "unscale"
  | "scaler-update"
  | "scheduler-step"
  /** `.grad` is read: gradients may be used by hand. */
  | "gradient-read"
  /** `.grad` is multiplied or divided in place or overwritten by something made of it. */
  | "gradient-scaling"
  /** A hook on gradients is registered: it may step, zero or scale by itself. */
  | "gradient-hook"
  /** Code we cannot see gets the optimizer, the model or the whole trainer: it may do any of the above. */
  | "unknown-code";

/** Something that happens to gradients, in the order in which it runs. */
export interface TraceEvent {
  readonly kind: EventKind;
  readonly node: Node;
  /** The statement that holds it. */
  readonly statement: Statement;
  /** From the beginning of the trace, outermost first. */
  readonly places: readonly Place[];
  /**
   * The loss of a backward (inside `scaler.scale(…)`), the optimizer of a step, the object that is zeroed, the
   * scheduler; read where the event stands. `undefined` when there is none or it cannot be named.
   */
  readonly subject: Expression | undefined;
  /** What `subject` is for zeroings, and what unknown code gets; `everything` where a trace was cut off. */
  readonly of: "optimizer" | "model" | "gradient" | "trainer" | "everything" | "loss" | "other";
  readonly certainty: Certainty;
  /** For backwards and steps through a framework's object; `"unknown"` where it looks like one we do not know. */
  readonly through: Framework | "unknown" | undefined;
  /** For backwards: a gradient is handed in, so the loss may be scaled by it. */
  readonly withGradient: boolean;
}
