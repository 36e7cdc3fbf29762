/**
 * Reference counts as CPython keeps them, so that the simulation knows when a tensor's memory is free again.
 *
 * A heap value holds its contents only while it is held itself: the first reference takes the contents', the last one
 * gives them back. Results of expressions stay on a stack of temporaries until the enclosing expression is done.
 */
import { Tensor } from "../tensor";
import { Heap, type Value } from "./values";

/** Who is told about references to tensors: the execution that is traced. */
export interface TensorHolder {
  retain(tensor: Tensor): void;
  release(tensor: Tensor): void;
}

/** Lists, tuples and most other values hold what they hold in an array. */
function isArray(held: Iterable<Value>): held is readonly Value[] {
  return Array.isArray(held);
}

export class References {
  private readonly temporaries: Value[] = [];

  constructor(private readonly holder: TensorHolder) {}

  retain(value: Value): void {
    if (typeof value !== "object" || value === null) return;
    if (value instanceof Tensor) {
      this.holder.retain(value);
      return;
    }
    if (!(value instanceof Heap)) return;
    if (++value.references > 1) return;
    const pending: Heap[] = [];
    for (let heap: Heap | undefined = value; heap !== undefined; heap = pending.pop()) {
      const held = heap.held();
      if (isArray(held)) for (let i = 0; i < held.length; i++) this.retainInner(held[i] as Value, pending);
      else for (const inner of held) this.retainInner(inner, pending);
    }
  }

  private retainInner(inner: Value, pending: Heap[]): void {
    if (typeof inner !== "object" || inner === null) return;
    if (inner instanceof Tensor) this.holder.retain(inner);
    else if (inner instanceof Heap && ++inner.references === 1) pending.push(inner);
  }

  release(value: Value): void {
    if (typeof value !== "object" || value === null) return;
    if (value instanceof Tensor) {
      this.holder.release(value);
      return;
    }
    if (!(value instanceof Heap)) return;
    if (--value.references > 0) return;
    const pending: Heap[] = [];
    for (let heap: Heap | undefined = value; heap !== undefined; heap = pending.pop()) {
      const held = heap.held();
      if (isArray(held)) for (let i = 0; i < held.length; i++) this.releaseInner(held[i] as Value, pending);
      else for (const inner of held) this.releaseInner(inner, pending);
    }
  }

  private releaseInner(inner: Value, pending: Heap[]): void {
    if (typeof inner !== "object" || inner === null) return;
    if (inner instanceof Tensor) this.holder.release(inner);
    else if (inner instanceof Heap && --inner.references === 0) pending.push(inner);
  }

  /** A value enters a container: counted only while the container itself is held. */
  adopt(container: Heap, value: Value): void {
    if (container.references > 0) this.retain(value);
  }

  /** A value leaves a container. It stays alive as a temporary until the enclosing expression is done. */
  disown(container: Heap, value: Value): void {
    if (container.references === 0) return;
    this.keep(value);
    this.release(value);
  }

  /** Keeps a value alive until the enclosing expression is done. */
  keep<Kept extends Value>(value: Kept): Kept {
    this.retain(value);
    this.temporaries.push(value);
    return value;
  }

  /** As `keep`, for a value whose reference is handed over by whoever made it. */
  own<Owned extends Value>(value: Owned): Owned {
    this.temporaries.push(value);
    return value;
  }

  mark(): number {
    return this.temporaries.length;
  }

  /** Releases the temporaries made since `mark`, last first. */
  releaseTo(mark: number): void {
    while (this.temporaries.length > mark) this.release(this.temporaries.pop() as Value);
  }

  /** As `releaseTo`, but `value` outlives it as one temporary. */
  settle(mark: number, value: Value): void {
    if (typeof value !== "object" || value === null) {
      this.releaseTo(mark);
      return;
    }
    if (this.temporaries.length === mark + 1 && this.temporaries[mark] === value) return;
    this.retain(value);
    this.releaseTo(mark);
    this.temporaries.push(value);
  }
}
