/** What a row of the operator table is, and what it sees of a call. */
import type { Execution, Location } from "../tape";
import { Tensor } from "../tensor";
import { isUnknown } from "../unknown";
import type { Argument, Keywords } from "./argument";
import type { Frame } from "./frame";
import { argumentNotUnderstood } from "./reasons";
import { NotUnderstood, Values } from "./values";

/** One operator under all its names. */
export interface OperatorRow {
  /** `torch.relu`, `torch.nn.functional.relu`, `Tensor.relu`: as the call names it. */
  readonly names: readonly string[];
  /** Python signature; a method's first parameter is the tensor. */
  readonly signature: string;
  readonly run: (call: OperatorCall) => Argument;
}

/** Names of an operator where `torch.x` and `Tensor.x` are the same. */
export function both(name: string): string[] {
  return [`torch.${name}`, `Tensor.${name}`];
}

/** The arguments of one call, by name, and the frame its temporaries live in. */
export class OperatorCall extends Values {
  constructor(
    name: string,
    readonly frame: Frame,
    values: Readonly<Record<string, Argument>>,
    rest: readonly Argument[],
    readonly location: Location,
  ) {
    super(name, values, rest);
  }

  get execution(): Execution {
    return this.frame.execution;
  }

  /**
   * Runs what is inside an operator that stands on one of autocast's lists: its arguments have been cast, and autocast does
   * not see what it is made of (ExcludeDispatchKeyGuard in autocast_mode.h).
   */
  withoutAutocast<Result>(run: () => Result): Result {
    this.execution.suspendAutocast();
    try {
      return run();
    } finally {
      this.execution.resumeAutocast();
    }
  }

  /** The same call with temporaries in another frame. */
  within(frame: Frame): OperatorCall {
    return new OperatorCall(this.name, frame, this.values, this.rest, this.location);
  }

  /** Calls another operator of the table; the result lives in this call's frame. */
  call(name: string, positional: readonly Argument[], keywords: Keywords = {}): Argument {
    const result = this.frame.call(name, positional, keywords, this.location);
    if (isUnknown(result)) throw new NotUnderstood(result.reason);
    return result;
  }

  /** The same where the answer must be one tensor. */
  op(name: string, positional: readonly Argument[], keywords: Keywords = {}): Tensor {
    const result = this.call(name, positional, keywords);
    if (result instanceof Tensor) return result;
    return this.fail(argumentNotUnderstood(name, "result"));
  }
}
