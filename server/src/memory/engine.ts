/**
 * The autograd engine: runs the nodes in PyTorch's order and frees what it frees, when it frees it
 * (torch/csrc/autograd/engine.cpp, input_buffer.cpp, functions/accumulate_grad.h).
 */
import type { GraphNode, Pending } from "./graph";
import { Frame } from "./operators/frame";
import { rememberedBackward } from "./operators/memo";
import { castTo, elementwiseStrides, sameShape, sumToSize } from "./operators/kernels";
import type { Execution } from "./tape";
import { isAlone, isComplex, isContiguous, isDense, type Tensor } from "./tensor";

export interface Root {
  readonly tensor: Tensor;
  readonly gradient: Tensor | undefined;
}

/** One run of backward. */
interface Schedule {
  readonly ready: NodeQueue;
  readonly retainGraph: boolean;
}

/** Runs backward from the roots. Gradients of leaves are left in `tensor.gradient`. */
export function runBackward(execution: Execution, roots: readonly Root[], retainGraph: boolean): void {
  const outerRunning = execution.running;
  execution.pushGradMode(false);
  const seeds: Tensor[] = [];
  const started = new Set<GraphNode>();
  const edges = roots.map(({ tensor }) => execution.edgeOf(tensor));
  for (const edge of edges) if (edge !== undefined) started.add(edge.node);
  const schedule: Schedule = { ready: new NodeQueue(), retainGraph };
  awaitBelow(started, schedule);
  roots.forEach(({ tensor, gradient }, i) => {
    const edge = edges[i];
    if (edge === undefined) return;
    execution.running = { operator: "ones_like", location: edge.node.location };
    const seed = gradient ?? onesLike(execution, tensor);
    if (gradient !== undefined) execution.holdTensor(seed);
    seeds.push(seed);
    execution.holdTensor(seed);
    place(execution, pendingOf(edge.node, schedule), edge.slot, seed);
  });
  const { ready } = schedule;
  for (const node of started) if (pendingOf(node, schedule)?.dependencies === 0) ready.push(node);
  for (let node = ready.pop(); node !== undefined; node = ready.pop()) {
    const pending = pendingOf(node, schedule);
    const gradients = pending?.gradients ?? noGradients;
    node.pending = pending?.outer;
    if (node.leaf !== undefined) accumulate(execution, node.leaf, gradients[0]);
    else runNode(execution, node, gradients, schedule);
  }
  for (const seed of seeds) execution.dropTensor(seed);
  execution.popGradMode();
  execution.running = outerRunning;
}

function onesLike(execution: Execution, tensor: Tensor): Tensor {
  const strides = elementwiseStrides(tensor.shape, [tensor]);
  return execution.allocate(tensor.shape, tensor.dtype, { strides });
}

function runNode(
  execution: Execution,
  node: GraphNode,
  gradients: readonly (Tensor | undefined)[],
  schedule: Schedule,
): void {
  execution.running = { operator: node.name, location: node.location };
  const saved = execution.unpack(node);
  const fitted = fittedGradients(execution, node, gradients, saved);
  // Incoming gradients and saved tensors go only now, after broadcast gradients have been reduced.
  for (const gradient of gradients) if (gradient !== undefined) execution.dropTensor(gradient);
  for (const tensor of saved) if (tensor !== undefined) execution.dropTensor(tensor);
  if (!schedule.retainGraph) execution.dropSavedOf(node);
  for (let i = 0; i < node.edges.length; i++) {
    const edge = node.edges[i];
    if (edge === undefined) continue;
    const next = pendingOf(edge.node, schedule);
    const gradient = fitted[i];
    if (gradient !== undefined) place(execution, next, edge.slot, gradient);
    if (next !== undefined && --next.dependencies === 0) schedule.ready.push(edge.node);
  }
}

/** What a node's backward gives for its inputs, as the nodes behind them expect it. */
function fittedGradients(
  execution: Execution,
  node: GraphNode,
  gradients: readonly (Tensor | undefined)[],
  saved: (Tensor | undefined)[],
): readonly (Tensor | undefined)[] {
  if (!isAnyDefined(gradients)) return noGradients;
  const { recordings, edges } = node;
  const results =
    recordings === undefined
      ? backwardOf(execution, node, gradients, saved)
      : rememberedBackward(execution, recordings, gradients, saved, () =>
          backwardOf(execution, node, gradients, saved),
        );
  execution.dropRecomputed(node, saved);
  const fitted = new Array<Tensor | undefined>(edges.length);
  for (let i = 0; i < edges.length; i++) {
    const edge = edges[i];
    const gradient = results[i];
    if (gradient !== undefined && edge === undefined) execution.dropTensor(gradient);
    const isWanted = gradient !== undefined && edge !== undefined;
    fitted[i] = isWanted ? fit(execution, gradient, edge.node, edge.slot) : undefined;
  }
  return fitted;
}

const noGradients: readonly undefined[] = [];

function isAnyDefined(gradients: readonly (Tensor | undefined)[]): boolean {
  for (const gradient of gradients) if (gradient !== undefined) return true;
  return false;
}

/** The caller owns what it gives. */
function backwardOf(
  execution: Execution,
  node: GraphNode,
  gradients: readonly (Tensor | undefined)[],
  saved: readonly (Tensor | undefined)[],
): (Tensor | undefined)[] {
  const frame = new Frame(execution);
  const wanted = node.edges.map((edge) => edge !== undefined);
  const results = node.backward(frame, gradients, saved, wanted);
  frame.end(results);
  return results;
}

/** `validate_outputs`: reduces a broadcast gradient and casts it to what the next node expects. Consumes `gradient`. */
function fit(execution: Execution, gradient: Tensor, node: GraphNode, slot: number): Tensor {
  const expected = node.leaf ?? node.outputs[slot];
  if (expected === undefined) return gradient;
  let result = gradient;
  if (isComplex(result.dtype) && !isComplex(expected.dtype)) result = realPart(execution, result);
  if (result.shape !== expected.shape && !sameShape(result.shape, expected.shape)) {
    const wide = result;
    const reduced = inFrame(execution, (frame) => sumToSize(frame, wide, expected.shape));
    execution.dropTensor(result);
    result = reduced;
  }
  if (result.dtype !== expected.dtype) {
    const wide = result;
    const cast = inFrame(execution, (frame) => castTo(frame, wide, expected.dtype));
    execution.dropTensor(result);
    result = cast;
  }
  return result;
}

/** `handle_r_to_c`: what flows into a real tensor is a view of the complex gradient's real parts. Consumes `gradient`. */
function realPart(execution: Execution, gradient: Tensor): Tensor {
  const strides = gradient.strides.map((stride) => stride * 2);
  const dtype = gradient.dtype === "complex128" ? "float64" : "float32";
  const real = execution.alias(gradient, gradient.shape, strides, dtype);
  execution.dropTensor(gradient);
  return real;
}

/** Runs a kernel in a frame of its own; the result is owned by the caller. */
function inFrame(execution: Execution, run: (frame: Frame) => Tensor): Tensor {
  const frame = new Frame(execution);
  const result = run(frame);
  frame.end(result);
  return result;
}

/**
 * `InputBuffer::accumulate`: the waiting gradient is added to in place when it is dense and nobody else holds it, else a
 * new tensor is made. Consumes `gradient`.
 */
function place(execution: Execution, pending: Pending | undefined, slot: number, gradient: Tensor): void {
  if (pending === undefined) {
    execution.dropTensor(gradient);
    return;
  }
  const slots = pending.gradients;
  const old = slots[slot];
  if (old === undefined) {
    slots[slot] = gradient;
    return;
  }
  if (!isPrivate(old)) {
    slots[slot] = execution.allocate(old.shape, old.dtype, isDense(old) ? { strides: old.strides } : {});
    execution.dropTensor(old);
  }
  execution.dropTensor(gradient);
}

function isPrivate(gradient: Tensor): boolean {
  const { storage } = gradient;
  return gradient.references === 1 && storage.tensors === 1 && storage.saved === 0 && isDense(gradient);
}

/**
 * `AccumulateGrad`: takes the gradient over when nobody else holds the tensor and it has the parameter's layout, else
 * copies; later gradients are added in place. Consumes `gradient`.
 */
function accumulate(execution: Execution, leaf: Tensor, gradient: Tensor | undefined): void {
  if (gradient === undefined) return;
  execution.running = { operator: "AccumulateGrad", location: execution.running.location };
  execution.reached.add(leaf);
  if (leaf.gradient !== undefined) {
    execution.dropTensor(gradient);
    return;
  }
  const { log } = execution;
  const start = log?.events.length ?? 0;
  const isCopy = gradient.references > 1 || !sameLayout(gradient, leaf);
  const wasAlone = isAlone(gradient);
  if (!isCopy) {
    leaf.gradient = gradient;
  } else {
    leaf.gradient = execution.allocate(
      leaf.shape,
      leaf.dtype,
      isDense(leaf) ? { strides: leaf.strides } : {},
    );
    execution.dropTensor(gradient);
  }
  if (leaf.storage.kind !== "parameter") return;
  const { storage } = leaf.gradient;
  execution.changeKind(storage, "gradient");
  log?.take(leaf, start, storage, { isCopy, isAlone: wasAlone });
}

/** The gradient layout contract (accumulate_grad.h): strides are equal where there is more than one element. */
function sameLayout(gradient: Tensor, leaf: Tensor): boolean {
  if (!isDense(leaf)) return isContiguous(gradient);
  const { shape, strides } = leaf;
  if (gradient.strides === strides) return true;
  for (let i = 0; i < shape.length; i++)
    if (shape[i] !== 1 && gradient.strides[i] !== strides[i]) return false;
  return true;
}

/** Counts for every node of the graph below the roots how many of its edges lead to it. */
function awaitBelow(roots: Iterable<GraphNode>, run: Schedule): void {
  const unseen: GraphNode[] = [];
  for (const root of roots) {
    root.pending = waiting(root, run, 0);
    unseen.push(root);
  }
  for (let node = unseen.pop(); node !== undefined; node = unseen.pop()) {
    const { edges } = node;
    for (let i = 0; i < edges.length; i++) {
      const next = edges[i]?.node;
      if (next === undefined) continue;
      const known = next.pending;
      if (known?.run === run) {
        known.dependencies++;
        continue;
      }
      next.pending = waiting(next, run, 1);
      unseen.push(next);
    }
  }
}

function waiting(node: GraphNode, run: Schedule, dependencies: number): Pending {
  const { outputs, pending: outer } = node;
  const gradients = outputs.length === 1 ? [undefined] : new Array<undefined>(outputs.length).fill(undefined);
  return { run, dependencies, gradients, outer };
}

/** Undefined for a node that the run does not lead to. One that was broken off within it may have left its own. */
function pendingOf({ pending }: GraphNode, run: Schedule): Pending | undefined {
  let found = pending;
  while (found !== undefined && found.run !== run) found = found.outer;
  return found;
}

/** A heap: the node created last comes first, AccumulateGrad before all. */
class NodeQueue {
  private readonly heap: GraphNode[] = [];

  push(node: GraphNode): void {
    const heap = this.heap;
    heap.push(node);
    let i = heap.length - 1;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (order(heap[parent]) >= order(heap[i])) break;
      this.swap(i, parent);
      i = parent;
    }
  }

  pop(): GraphNode | undefined {
    const heap = this.heap;
    const top = heap[0];
    const last = heap.pop();
    if (last === undefined || top === last) return top;
    heap[0] = last;
    let i = 0;
    for (;;) {
      const left = 2 * i + 1;
      let largest = i;
      if (order(heap[left]) > order(heap[largest])) largest = left;
      if (order(heap[left + 1]) > order(heap[largest])) largest = left + 1;
      if (largest === i) return top;
      this.swap(i, largest);
      i = largest;
    }
  }

  private swap(i: number, j: number): void {
    const a = this.heap[i];
    const b = this.heap[j];
    if (a === undefined || b === undefined) return;
    this.heap[i] = b;
    this.heap[j] = a;
  }
}

function order(node: GraphNode | undefined): number {
  return node?.sequence ?? -1;
}
