/**
 * Owner of the temporaries of one operator or one graph node: like the local variables of a C++ function they live until
 * it returns, unless they are freed before.
 */
import type { Execution, Location } from "../tape";
import { Tensor, type Dtype } from "../tensor";
import { tensorsIn, type Argument, type Keywords } from "./argument";

export class Frame {
  /** A tensor once for each reference; few at a time, so that a list is faster than a map. */
  private readonly owned: Tensor[] = [];

  constructor(readonly execution: Execution) {}

  /** Takes over a reference that the caller owns. */
  own(tensor: Tensor): Tensor {
    this.owned.push(tensor);
    return tensor;
  }

  /** Gives a temporary back before the frame ends. A tensor that the frame does not own is left alone. */
  free(...tensors: readonly (Tensor | undefined)[]): void {
    for (const tensor of tensors) {
      const index = tensor === undefined ? -1 : this.owned.lastIndexOf(tensor);
      if (tensor === undefined || index < 0) continue;
      this.owned.splice(index, 1);
      this.execution.dropTensor(tensor);
    }
  }

  /** A new tensor on a new storage. */
  empty(shape: readonly number[], dtype: Dtype, strides?: readonly number[]): Tensor {
    return this.own(this.execution.allocate(shape, dtype, strides === undefined ? {} : { strides }));
  }

  /** A view: it keeps the tensor it looks at alive, as PyTorch's view metadata do. */
  view(source: Tensor, shape: readonly number[], strides: readonly number[]): Tensor {
    const view = this.alias(source, shape, strides);
    this.execution.hangOn(view, source.base ?? source);
    return view;
  }

  /** Another tensor on the same storage that is no view for autograd (detach, _unsafe_view). */
  alias(source: Tensor, shape: readonly number[], strides: readonly number[]): Tensor {
    return this.own(this.execution.alias(source, shape, strides));
  }

  call(name: string, positional: readonly Argument[], keywords: Keywords, location: Location): Argument {
    const result = this.execution.call(name, positional, keywords, location);
    for (const tensor of tensorsIn(result)) this.own(tensor);
    return result;
  }

  /** Runs a computation whose temporaries go as soon as it is done; its result lives in this frame. */
  temporarily(compute: (inner: Frame) => Tensor | undefined): Tensor | undefined {
    const inner = new Frame(this.execution);
    let result: Tensor | undefined;
    try {
      result = compute(inner);
    } finally {
      inner.end(result);
    }
    return result === undefined ? undefined : this.own(result);
  }

  /** The same for a computation that always has a result. */
  scoped(compute: (inner: Frame) => Tensor): Tensor {
    const inner = new Frame(this.execution);
    let result: Tensor | undefined;
    try {
      result = compute(inner);
    } finally {
      inner.end(result);
    }
    return this.own(result);
  }

  /** The same for a computation with several results. */
  scopedAll(compute: (inner: Frame) => readonly Tensor[]): readonly Tensor[] {
    const inner = new Frame(this.execution);
    let results: readonly Tensor[] = [];
    try {
      results = compute(inner);
    } finally {
      inner.end(results);
    }
    for (const result of results) this.own(result);
    return results;
  }

  /** Gives everything back but one reference for each tensor of the result, which goes to the caller. */
  end(result: Argument | readonly (Tensor | undefined)[] | undefined): void {
    const { execution, owned } = this;
    if (result instanceof Tensor) execution.holdTensor(result);
    else if (typeof result === "object" && result !== null)
      for (const tensor of tensorsIn(result)) execution.holdTensor(tensor);
    for (const tensor of owned) execution.dropTensor(tensor);
    if (owned.length > 0) owned.length = 0;
  }
}
