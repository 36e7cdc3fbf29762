/** What the calls of a forward gave and what they made the graph keep, while it is traced. */
import type { Span } from "../../python/tree";
import { Tensor, type Dtype } from "../tensor";
import { ListValue, TupleValue, type ObjectValue, type Value } from "./values";

/** Shape and dtype of one tensor. */
export interface TensorShape {
  readonly shape: readonly number[];
  readonly dtype: Dtype;
}

/** One call of the source or one module, over all the times it ran. */
export interface CallRecord {
  readonly span: Span;
  count: number;
  /** Bytes that the graph keeps because of it and did not keep before; all times together. */
  saved: number;
  /** The different outputs, in order of appearance; at most `mostOutputs`. */
  readonly outputs: TensorShape[];
}

/** A call that gives other shapes each time is no table. */
const mostOutputs = 4;

export class CallRecorder {
  private readonly calls = new Map<Span, CallRecord>();
  private readonly modules = new Map<ObjectValue, CallRecord>();

  /** A call of the user's file has run. `span` must be the same object each time. */
  addCall(span: Span, result: Value, saved: number): void {
    add(this.calls, span, span, result, saved);
  }

  /** The forward of a module has run. */
  addModule(module: ObjectValue, result: Value, saved: number): void {
    add(this.modules, module, { start: 0, end: 0 }, result, saved);
  }

  /** Calls that gave tensors. */
  allCalls(): CallRecord[] {
    return [...this.calls.values()].filter(({ outputs }) => outputs.length > 0);
  }

  ofModule(module: ObjectValue): CallRecord | undefined {
    return this.modules.get(module);
  }
}

function add<Key>(records: Map<Key, CallRecord>, key: Key, span: Span, result: Value, saved: number): void {
  let record = records.get(key);
  if (record === undefined) {
    record = { span, count: 0, saved: 0, outputs: [] };
    records.set(key, record);
  }
  record.count += 1;
  record.saved += saved;
  if (result instanceof Tensor) addOutput(record, result);
  else for (const tensor of tensorsOf(result)) addOutput(record, tensor);
}

function addOutput({ outputs }: CallRecord, { shape, dtype }: Tensor): void {
  if (outputs.length >= mostOutputs) return;
  for (let i = 0; i < outputs.length; i++) {
    const other = outputs[i];
    if (other?.dtype === dtype && sameShape(other.shape, shape)) return;
  }
  outputs.push({ shape: [...shape], dtype });
}

/** The tensors of a flat tuple or list. */
function tensorsOf(value: Value): Tensor[] {
  if (!(value instanceof TupleValue) && !(value instanceof ListValue)) return [];
  return value.items.slice(0, mostOutputs).filter((item) => item instanceof Tensor);
}

function sameShape(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((size, index) => size === b[index]);
}
