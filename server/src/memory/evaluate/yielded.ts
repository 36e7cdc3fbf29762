/**
 * What a generator yields. It is run to its end before anybody uses what it gave, while Python runs it value by value: data
 * that it makes anew each time is therefore not held here, but appears when it is taken, as it would in Python.
 */
import type { Node } from "../../python/tree";
import { Tensor } from "../tensor";
import { GeneratorCut } from "./errors";
import type { References } from "./references";
import { DictValue, IteratorValue, ListValue, TupleValue, type Value } from "./values";

/** One that gives more than this is not followed. */
const mostValues = 20_000;
/** Batches of data that are made in advance; whoever asks for more is told that nobody knows them. */
const mostBatches = 256;

export class Yielded {
  readonly values: Value[] = [];
  private readonly held = new Set<Value>();
  private isCut = false;

  push(references: References, value: Value, node: Node): void {
    this.values.push(value);
    const isData = holdsData(value);
    if (!isData && !this.held.has(value)) {
      references.retain(value);
      this.held.add(value);
    }
    const most = isData ? mostBatches : mostValues;
    if (this.values.length >= most) {
      this.isCut = true;
      throw new GeneratorCut(node);
    }
  }

  /** The iterator holds what was held here. */
  iterator(references: References, atTheEnd: () => never): IteratorValue {
    const { values, isCut } = this;
    const result = new IteratorValue(inTurn(values, isCut ? atTheEnd : undefined), [...this.held]);
    references.retain(result);
    for (const value of this.held) references.release(value);
    return result;
  }
}

function* inTurn(values: readonly Value[], atTheEnd: (() => never) | undefined): Generator<Value, undefined> {
  yield* values;
  atTheEnd?.();
  return undefined;
}

/** Tensors without a graph, by themselves or in plain containers; other values cost nothing, or live on elsewhere. */
function holdsData(value: Value): boolean {
  if (value instanceof Tensor)
    return (
      !value.requiresGrad &&
      value.node === undefined &&
      value.base === undefined &&
      value.gradient === undefined
    );
  const inner =
    value instanceof TupleValue || value instanceof ListValue
      ? value.items
      : value instanceof DictValue
        ? [...value.entries.values()].map((entry) => entry.value)
        : [];
  return (
    inner.some((item) => item instanceof Tensor) &&
    inner.every((item) => !(item instanceof Tensor) || holdsData(item))
  );
}
