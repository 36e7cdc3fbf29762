/**
 * What a generator yields. It is run to its end before anybody uses what it gave, while Python runs it value by value: data
 * that it makes anew each time is therefore not held here, but appears when it is taken, as it would in Python.
 */
import type { Yield } from "../../python/tree";
import { Tensor } from "../tensor";
import { isUnknown } from "../unknown";
import { GeneratorCut } from "./errors";
import type { References } from "./references";
import { DictValue, IteratorValue, ListValue, TupleValue, type Value } from "./values";

/** One that gives more than this is not followed. */
const mostValues = 20_000;
/** Batches of data, and of what nobody knows, that are made in advance; whoever asks for more is told that nobody knows them. */
const mostBatches = 256;

interface Turn {
  readonly value: Value;
  /** What variables of the generator hold until it goes on. */
  readonly bound: readonly Value[];
}

export class Yielded {
  readonly turns: Turn[] = [];
  private readonly held = new Set<Value>();
  private isCut = false;

  push(references: References, value: Value, node: Yield): void {
    const isData = holdsData(value);
    this.turns.push({ value, bound: isData ? boundIn(value, node) : [] });
    if (!isData && !this.held.has(value)) {
      references.retain(value);
      this.held.add(value);
    }
    if (this.turns.length < (isData || mayBeData(value) ? mostBatches : mostValues)) return;
    this.isCut = true;
    throw new GeneratorCut(node);
  }

  /** The iterator holds what was held here. */
  iterator(references: References, atTheEnd: () => never): IteratorValue {
    const sources = [...this.held];
    const source = inTurn(
      this.turns,
      (before, now) => {
        for (const value of now) references.adopt(result, value);
        sources.push(...now);
        sources.splice(this.held.size, before.length);
        for (const value of before) references.disown(result, value);
      },
      this.isCut ? atTheEnd : undefined,
    );
    const result: IteratorValue = new IteratorValue(source, sources);
    references.retain(result);
    for (const value of this.held) references.release(value);
    return result;
  }
}

function* inTurn(
  turns: readonly Turn[],
  change: (before: readonly Value[], now: readonly Value[]) => void,
  atTheEnd: (() => never) | undefined,
): Generator<Value, undefined> {
  let before: readonly Value[] = [];
  for (const { value, bound } of turns) {
    change(before, bound);
    before = bound;
    yield value;
  }
  // Of a loader there is one batch: who asks for all that there is still stands in the middle of it.
  atTheEnd?.();
  return undefined;
}

/** `yield batch`, `yield images, labels`: names, not what is computed for the moment. */
function boundIn(value: Value, { value: written, isFrom }: Yield): readonly Value[] {
  if (isFrom || written === undefined) return [];
  if (written.kind === "Name") return [value];
  if (written.kind !== "Tuple" && written.kind !== "List") return [];
  const items = value instanceof TupleValue || value instanceof ListValue ? value.items : [];
  return items.filter((_, i) => written.elements[i]?.kind === "Name");
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

/** Views of data that somebody else holds, and what is not known: batches as well. */
function mayBeData(value: Value): boolean {
  if (value instanceof Tensor || isUnknown(value)) return true;
  const items = value instanceof TupleValue || value instanceof ListValue ? value.items : [];
  return items.some((item) => item instanceof Tensor || isUnknown(item));
}
