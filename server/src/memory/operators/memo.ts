/**
 * Operators that have run before on operands of the same layouts do again what they did then, in this estimate or in a
 * later one: an editor asks for the same model after every edit.
 */
import type { Execution, Location } from "../tape";
import { Tensor } from "../tensor";
import type { Argument, Keywords } from "./argument";
import { isSequence } from "./argument";
import { EffectRecorder, repeat, type Recording } from "./effects";
import { callOperator } from "./registry";

/** More different calls than this are forgotten all at once. */
const mostRecordings = 20_000;

/** What is recorded may hold on to the execution that it was recorded in; of so many executions at once. */
const mostExecutions = 64;

type Token = number | string | boolean | null;

/**
 * A call but for which tensors its operands are, and those. One object serves all calls, one after the other: what it says
 * of a call holds until the next begins.
 */
class Call {
  /** The operands, `operandCount` of them; then whatever the call makes. */
  readonly table: (Tensor | undefined)[] = [];
  operandCount = 0;
  private readonly tokens: Token[] = [];
  private tokenCount = 0;
  hash = 0;
  private execution: Execution | undefined;

  begin(execution: Execution): this {
    const { autocast, gradEnabled } = execution;
    this.execution = execution;
    this.operandCount = 0;
    this.tokenCount = 0;
    this.hash = 0;
    this.number(gradEnabled ? 1 : 0);
    if (autocast !== undefined) {
      this.token(autocast.dtype);
      this.token(autocast.cache !== false);
    }
    return this;
  }

  /** False for what an operator may look into further than is told apart here. */
  add(value: Argument | undefined): boolean {
    if (value instanceof Tensor) return this.addTensor(value);
    if (value === undefined) this.token("_");
    else if (typeof value === "number") this.number(value);
    else if (typeof value !== "object" || value === null) this.token(value);
    else if (isSequence(value)) return this.addAll("(", value);
    else if (!("kind" in value)) return false;
    else if (value.kind === "float") this.marked("f", value.value);
    else if (value.kind === "dtype") this.marked("d", value.dtype);
    else if (value.kind === "memory-format") this.marked("m", value.name);
    else if (value.kind === "ellipsis") this.token("e");
    else if (value.kind === "slice") return this.addAll(":", [value.lower, value.upper, value.step]);
    else return false;
    return true;
  }

  addNamed(name: string, value: Argument | undefined): boolean {
    this.token(name);
    return this.add(value);
  }

  /** A tensor of its own whose layout need not be told apart. */
  addPlace(tensor: Tensor | undefined): void {
    this.number(tensor === undefined ? 0 : 1);
    if (tensor !== undefined) this.table[this.operandCount++] = tensor;
  }

  isLike(tokens: readonly Token[]): boolean {
    const { tokens: own, tokenCount } = this;
    if (tokenCount !== tokens.length) return false;
    for (let i = 0; i < tokenCount; i++) if (own[i] !== tokens[i]) return false;
    return true;
  }

  /** What tells it apart, for good. */
  keptTokens(): readonly Token[] {
    return this.tokens.slice(0, this.tokenCount);
  }

  operands(): readonly Tensor[] {
    return this.table.slice(0, this.operandCount).filter((tensor) => tensor !== undefined);
  }

  private token(token: Token): void {
    this.tokens[this.tokenCount++] = token;
  }

  private marked(mark: string, token: Token): void {
    this.token(mark);
    this.token(token);
  }

  private number(value: number): void {
    this.token(value);
    this.hash = (Math.imul(this.hash, 31) + value) | 0;
  }

  private addAll(mark: string, values: readonly Argument[]): boolean {
    this.token(mark);
    this.number(values.length);
    for (const value of values) if (!this.add(value)) return false;
    return true;
  }

  private addTensor(tensor: Tensor): boolean {
    const { table, operandCount } = this;
    for (let known = 0; known < operandCount; known++) {
      if (table[known] !== tensor) continue;
      this.token("=");
      this.number(known);
      return true;
    }
    if (tensor.values !== undefined || tensor.isArray) return false;
    table[this.operandCount++] = tensor;
    const { base, bound } = tensor;
    const gradient = tensor.requiresGrad ? (tensor.isLeaf ? 1 : 2) : 0;
    const isCopied = this.execution?.hasCopyOf(tensor) === true;
    const flags =
      gradient + (base === undefined ? 0 : 4) + (isCopied ? 8 : 0) + (bound === undefined ? 0 : 16);
    this.token("t");
    this.number(layoutOf(tensor) * 32 + flags);
    if (bound !== undefined) this.token(bound);
    return base === undefined || this.addTensor(base);
  }
}

/** No call begins while another's tokens or operands are still looked at. */
const theCall = new Call();

const layouts = new Map<string, number>();
let layoutCount = 0;

/** The number of a tensor's shape, strides and dtype together. No number is given twice. */
export function layoutOf(tensor: Tensor): number {
  if (tensor.layout !== 0) return tensor.layout;
  const text = `${tensor.dtype} ${tensor.shape.join()} ${tensor.strides.join()}`;
  let number = layouts.get(text);
  if (number === undefined) {
    number = ++layoutCount;
    layouts.set(text, number);
  }
  tensor.layout = number;
  return number;
}

/** What was recorded of calls of one operator, or of one node's backward. */
export class Recordings {
  private readonly byHash = new Map<
    number,
    { readonly tokens: readonly Token[]; readonly recording: Recording | undefined }[]
  >();

  find(call: Call): { readonly recording: Recording | undefined } | undefined {
    const alike = this.byHash.get(call.hash);
    if (alike === undefined) return undefined;
    for (let i = 0; i < alike.length; i++) {
      const one = alike[i];
      if (one !== undefined && call.isLike(one.tokens)) return one;
    }
    return undefined;
  }

  /** Without a recording: that such calls cannot be repeated. */
  add(hash: number, tokens: readonly Token[], recording: Recording | undefined): void {
    const known = this.byHash.get(hash);
    if (known === undefined) this.byHash.set(hash, [{ tokens, recording }]);
    else known.push({ tokens, recording });
  }
}

class OperatorMemo {
  private readonly operators = new Map<string, Recordings>();
  private readonly executions = new Set<Execution>();
  private count = 0;

  recordingsOf(name: string): Recordings {
    let known = this.operators.get(name);
    if (known === undefined) {
      known = new Recordings();
      this.operators.set(name, known);
    }
    return known;
  }

  /** Something is about to be recorded. */
  admit(execution: Execution): void {
    this.executions.add(execution);
    if (++this.count > mostRecordings || this.executions.size > mostExecutions) this.forget();
  }

  forget(): void {
    this.operators.clear();
    this.executions.clear();
    layouts.clear();
    this.count = 0;
  }
}

/** By what operators choose their kernels by. */
const memos = new Map<string, OperatorMemo>();

export function memoOf({ device, attention }: Pick<Execution, "device" | "attention">): OperatorMemo {
  const key = `${device} ${attention}`;
  let memo = memos.get(key);
  if (memo === undefined) {
    memo = new OperatorMemo();
    memos.set(key, memo);
  }
  return memo;
}

export type { OperatorMemo };

/** From here on every operator runs as if it were the first. */
export function forgetOperators(): void {
  for (const memo of memos.values()) memo.forget();
}

/** An operator and what it is given. */
interface OperatorArguments {
  readonly name: string;
  readonly positional: readonly Argument[];
  readonly keywords: Keywords;
  readonly location: Location;
}

/** The answer of an operator, which is computed where the call is none like an earlier one. */
export function remembered(execution: Execution, asked: OperatorArguments): Argument {
  const { name, positional, keywords, location } = asked;
  const call = theCall.begin(execution);
  const recordings = execution.memo.recordingsOf(name);
  const isTold = addArguments(call, positional, keywords);
  const known = isTold ? recordings.find(call) : undefined;
  if (known?.recording !== undefined)
    return repeat(execution, known.recording, call.table, call.operandCount);
  const run = (): Argument => callOperator(execution, name, positional, keywords, location);
  return isTold && known === undefined ? recorded(execution, recordings, call, run) : run();
}

/** False where they are more than is told apart here. */
function addArguments(call: Call, positional: readonly Argument[], keywords: Keywords): boolean {
  for (let i = 0; i < positional.length; i++) if (!call.add(positional[i])) return false;
  for (const keyword in keywords) if (!call.addNamed(keyword, keywords[keyword])) return false;
  return true;
}

/** The same of a node's backward, where a recorded operator has hung the node on the graph. */
export function rememberedBackward(
  execution: Execution,
  recordings: Recordings,
  gradients: readonly (Tensor | undefined)[],
  saved: readonly (Tensor | undefined)[],
  run: () => (Tensor | undefined)[],
): (Tensor | undefined)[] {
  const call = theCall.begin(execution);
  for (let i = 0; i < gradients.length; i++) if (!call.add(gradients[i])) return run();
  // their layouts follow from those of the operator's operands
  for (let i = 0; i < saved.length; i++) call.addPlace(saved[i]);
  const known = recordings.find(call);
  if (known === undefined) return recorded(execution, recordings, call, run);
  const { recording } = known;
  return recording === undefined
    ? run()
    : (repeat(execution, recording, call.table, call.operandCount) as (Tensor | undefined)[]);
}

/** Runs what was not asked for before, and keeps what it does. */
function recorded<Result extends Argument | readonly (Tensor | undefined)[]>(
  execution: Execution,
  recordings: Recordings,
  call: Call,
  run: () => Result,
): Result {
  execution.memo.admit(execution);
  const { hash } = call;
  const tokens = call.keptTokens();
  const recorder = new EffectRecorder(execution, execution.running.operator, call.operands());
  execution.effects = recorder;
  let result: Result;
  try {
    result = run();
  } finally {
    execution.effects = undefined;
  }
  recordings.add(hash, tokens, recorder.finish(result));
  return result;
}
