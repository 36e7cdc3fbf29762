/**
 * Operators that have run before on operands of the same layouts do again what they did then, in this estimate or in a
 * later one: an editor asks for the same model after every edit.
 */
import type { Execution } from "../tape";
import { Tensor } from "../tensor";
import type { Argument, Keywords } from "./argument";
import { isSequence } from "./argument";
import { EffectRecorder, repeat, type Recording } from "./effects";

/** More different calls than this are forgotten all at once. */
const mostRecordings = 20_000;

/** What is recorded may hold on to the execution that it was recorded in; of so many executions at once. */
const mostExecutions = 64;

type Token = number | string | boolean | null;

/** A call but for which tensors its operands are, and those. */
class Call {
  readonly operands: Tensor[] = [];
  readonly tokens: Token[] = [];
  hash = 0;

  constructor(private readonly execution: Execution) {
    const { autocast, gradEnabled } = execution;
    this.number(gradEnabled ? 1 : 0);
    if (autocast !== undefined) this.tokens.push(autocast.dtype, autocast.cache !== false);
  }

  /** False for what an operator may look into further than is told apart here. */
  add(value: Argument | undefined): boolean {
    if (value instanceof Tensor) return this.addTensor(value);
    if (value === undefined) this.tokens.push("_");
    else if (typeof value === "number") this.number(value);
    else if (typeof value !== "object" || value === null) this.tokens.push(value);
    else if (isSequence(value)) return this.addAll("(", value);
    else if (!("kind" in value)) return false;
    else if (value.kind === "float") this.tokens.push("f", value.value);
    else if (value.kind === "dtype") this.tokens.push("d", value.dtype);
    else if (value.kind === "memory-format") this.tokens.push("m", value.name);
    else if (value.kind === "ellipsis") this.tokens.push("e");
    else if (value.kind === "slice") return this.addAll(":", [value.lower, value.upper, value.step]);
    else return false;
    return true;
  }

  addNamed(name: string, value: Argument | undefined): boolean {
    this.tokens.push(name);
    return this.add(value);
  }

  /** A tensor of its own whose layout need not be told apart. */
  addPlace(tensor: Tensor | undefined): void {
    this.number(tensor === undefined ? 0 : 1);
    if (tensor !== undefined) this.operands.push(tensor);
  }

  isLike(tokens: readonly Token[]): boolean {
    const own = this.tokens;
    if (own.length !== tokens.length) return false;
    for (let i = 0; i < own.length; i++) if (own[i] !== tokens[i]) return false;
    return true;
  }

  private number(value: number): void {
    this.tokens.push(value);
    this.hash = (Math.imul(this.hash, 31) + value) | 0;
  }

  private addAll(mark: string, values: readonly Argument[]): boolean {
    this.tokens.push(mark);
    this.number(values.length);
    for (const value of values) if (!this.add(value)) return false;
    return true;
  }

  private addTensor(tensor: Tensor): boolean {
    const known = this.operands.indexOf(tensor);
    if (known >= 0) {
      this.tokens.push("=");
      this.number(known);
      return true;
    }
    if (tensor.values !== undefined || tensor.isArray) return false;
    this.operands.push(tensor);
    const { base, bound } = tensor;
    const gradient = tensor.requiresGrad ? (tensor.isLeaf ? 1 : 2) : 0;
    this.tokens.push("t");
    this.number(layoutOf(tensor));
    this.number(gradient + (base === undefined ? 0 : 4) + (this.execution.hasCopyOf(tensor) ? 8 : 0));
    this.tokens.push(bound ?? "_");
    return base === undefined || this.addTensor(base);
  }
}

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
    for (const one of alike) if (call.isLike(one.tokens)) return one;
    return undefined;
  }

  /** Without a recording: that such calls cannot be repeated. */
  add({ hash, tokens }: Call, recording: Recording | undefined): void {
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

/** The answer of an operator, which `run` computes where the call is none like an earlier one. */
export function remembered(
  execution: Execution,
  memo: OperatorMemo,
  name: string,
  positional: readonly Argument[],
  keywords: Keywords,
  run: () => Argument,
): Argument {
  const call = new Call(execution);
  for (const value of positional) if (!call.add(value)) return run();
  for (const keyword in keywords) if (!call.addNamed(keyword, keywords[keyword])) return run();
  return repeated(execution, memo, memo.recordingsOf(name), call, run);
}

/** The same of a node's backward, where a recorded operator has hung the node on the graph. */
export function rememberedBackward(
  execution: Execution,
  recordings: Recordings,
  gradients: readonly (Tensor | undefined)[],
  saved: readonly (Tensor | undefined)[],
  run: () => (Tensor | undefined)[],
): (Tensor | undefined)[] {
  const call = new Call(execution);
  for (const gradient of gradients) if (!call.add(gradient)) return run();
  // their layouts follow from those of the operator's operands
  for (const tensor of saved) call.addPlace(tensor);
  return repeated(execution, memoOf(execution), recordings, call, run);
}

function repeated<Result extends Argument | readonly (Tensor | undefined)[]>(
  execution: Execution,
  memo: OperatorMemo,
  recordings: Recordings,
  call: Call,
  run: () => Result,
): Result {
  const known = recordings.find(call);
  if (known !== undefined)
    return known.recording === undefined
      ? run()
      : (repeat(execution, known.recording, call.operands) as Result);
  memo.admit(execution);
  const recorder = new EffectRecorder(execution, execution.running.operator, call.operands);
  execution.effects = recorder;
  let result: Result;
  try {
    result = run();
  } finally {
    execution.effects = undefined;
  }
  recordings.add(call, recorder.finish(result));
  return result;
}
