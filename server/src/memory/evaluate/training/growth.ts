/** What iterations of a training loop pile up: lists of outputs, histories, graphs that nobody lets go of. Bytes throughout. */
import type { LiveBytes } from "../../live-memory";
import type { Storage } from "../../tensor";
import { Heap, type Value } from "../values";
import { reachableFrom } from "./placement";

/** Losses that are kept in each iteration are no more than this, and no figure shows them. */
const negligible = 512;

/** Live bytes after each iteration, states and gradients left out: micro-batches share those, and they do not pile up. */
export class KeptByIterations {
  private readonly ends: number[] = [];

  constructor(private readonly memory: { liveBytes(): LiveBytes }) {}

  /** An iteration has ended. */
  add(): void {
    const { inputs, saved, temporary } = this.memory.liveBytes();
    this.ends.push(inputs + saved + temporary);
  }

  /** What the last iteration left more than the one before. */
  get growth(): number {
    const [before = 0, last = 0] = this.ends.slice(-2);
    return last - before;
  }

  /** What is filled for the first time, such as a cache, makes one difference; what piles up makes each. */
  get grows(): boolean {
    const [first = 0, second = 0] = this.ends;
    return this.ends.length > 2 && second - first > negligible && this.growth > negligible;
  }
}

/** Bytes of activations and inputs that can be reached from each of some values. */
export function heldByName(values: Iterable<readonly [string, Value]>): Map<string, number> {
  const held = new Map<string, number>();
  for (const [name, value] of values) {
    if (!(value instanceof Heap)) continue;
    const storages = new Set<Storage>(reachableFrom([[name, value]]).tensors.map(({ storage }) => storage));
    let bytes = 0;
    for (const { kind, bytes: size } of storages)
      if (kind === "activation" || kind === "input") bytes += size;
    held.set(name, Math.max(held.get(name) ?? 0, bytes));
  }
  return held;
}
