/**
 * The autograd engine: runs the nodes in PyTorch's order and frees what it frees, when it frees it
 * (torch/csrc/autograd/engine.cpp, input_buffer.cpp, functions/accumulate_grad.h).
 */
import type { GraphNode } from "./graph";
import { Frame } from "./operators/frame";
import { castTo, elementwiseStrides, sumToSize } from "./operators/kernels";
import type { Execution } from "./tape";
import { isComplex, isDense, type Tensor } from "./tensor";

export interface Root {
  readonly tensor: Tensor;
  readonly gradient: Tensor | undefined;
}

/** Gradients that wait for a node: one slot an output. */
type Waiting = (Tensor | undefined)[];

/** Runs backward from the roots. Gradients of leaves are left in `tensor.gradient`. */
export function runBackward(execution: Execution, roots: readonly Root[], retainGraph: boolean): void {
  const outerRunning = execution.running;
  execution.pushGradMode(false);
  const seeds: Tensor[] = [];
  const waiting = new Map<GraphNode, Waiting>();
  const started: GraphNode[] = [];
  for (const root of roots) {
    const edge = execution.edgeOf(root.tensor);
    if (edge === undefined) continue;
    execution.running = { operator: "ones_like", location: edge.node.location };
    const seed = root.gradient ?? onesLike(execution, root.tensor);
    if (root.gradient !== undefined) execution.holdTensor(seed);
    seeds.push(seed);
    execution.holdTensor(seed);
    place(execution, waiting, edge.node, edge.slot, seed);
    if (!started.includes(edge.node)) started.push(edge.node);
  }
  const dependencies = countDependencies(started);
  const ready = new NodeQueue();
  for (const node of started) if ((dependencies.get(node) ?? 0) === 0) ready.push(node);
  for (let node = ready.pop(); node !== undefined; node = ready.pop()) {
    const gradients = waiting.get(node) ?? [];
    waiting.delete(node);
    if (node.leaf !== undefined) accumulate(execution, node.leaf, gradients[0]);
    else runNode(execution, node, gradients, { waiting, dependencies, ready, retainGraph });
  }
  for (const seed of seeds) execution.dropTensor(seed);
  execution.popGradMode();
  execution.running = outerRunning;
}

function onesLike(execution: Execution, tensor: Tensor): Tensor {
  const strides = elementwiseStrides(tensor.shape, [tensor]);
  return execution.allocate(tensor.shape, tensor.dtype, { strides });
}

interface Schedule {
  readonly waiting: Map<GraphNode, Waiting>;
  readonly dependencies: Map<GraphNode, number>;
  readonly ready: NodeQueue;
  readonly retainGraph: boolean;
}

function runNode(execution: Execution, node: GraphNode, gradients: Waiting, schedule: Schedule): void {
  execution.running = { operator: node.name, location: node.location };
  const saved = execution.unpack(node);
  const wanted = node.edges.map((edge) => edge !== undefined);
  const frame = new Frame(execution);
  const results = gradients.some((gradient) => gradient !== undefined)
    ? node.backward(frame, gradients, saved, wanted)
    : [];
  frame.end(results);
  const fitted = node.edges.map((edge, i) => {
    const gradient = results[i];
    if (gradient === undefined) return undefined;
    if (edge !== undefined) return fit(execution, gradient, edge.node, edge.slot);
    execution.dropTensor(gradient);
    return undefined;
  });
  // Incoming gradients and saved tensors go only now, after broadcast gradients have been reduced.
  for (const gradient of gradients) if (gradient !== undefined) execution.dropTensor(gradient);
  for (const tensor of saved) if (tensor !== undefined) execution.dropTensor(tensor);
  if (!schedule.retainGraph) execution.dropSavedOf(node);
  node.edges.forEach((edge, i) => {
    if (edge === undefined) return;
    const gradient = fitted[i];
    if (gradient !== undefined) place(execution, schedule.waiting, edge.node, edge.slot, gradient);
    const left = (schedule.dependencies.get(edge.node) ?? 1) - 1;
    schedule.dependencies.set(edge.node, left);
    if (left === 0) schedule.ready.push(edge.node);
  });
}

/** `validate_outputs`: reduces a broadcast gradient and casts it to what the next node expects. Consumes `gradient`. */
function fit(execution: Execution, gradient: Tensor, node: GraphNode, slot: number): Tensor {
  const expected = node.leaf ?? node.outputs[slot];
  if (expected === undefined) return gradient;
  let result = gradient;
  if (isComplex(result.dtype) && !isComplex(expected.dtype)) result = realPart(execution, result);
  if (!sameShape(result.shape, expected.shape)) {
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

function sameShape(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((size, i) => size === b[i]);
}

/**
 * `InputBuffer::accumulate`: the waiting gradient is added to in place when it is dense and nobody else holds it, else a
 * new tensor is made. Consumes `gradient`.
 */
function place(
  execution: Execution,
  waiting: Map<GraphNode, Waiting>,
  node: GraphNode,
  slot: number,
  gradient: Tensor,
): void {
  let slots = waiting.get(node);
  if (slots === undefined) {
    slots = [];
    waiting.set(node, slots);
  }
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
  if (gradient.references === 1 && sameLayout(gradient, leaf)) {
    leaf.gradient = gradient;
  } else {
    leaf.gradient = execution.allocate(
      leaf.shape,
      leaf.dtype,
      isDense(leaf) ? { strides: leaf.strides } : {},
    );
    execution.dropTensor(gradient);
  }
  if (leaf.storage.kind === "parameter") execution.changeKind(leaf.gradient.storage, "gradient");
}

function sameLayout(gradient: Tensor, leaf: Tensor): boolean {
  return (
    gradient.strides.length === leaf.strides.length && gradient.strides.every((s, i) => s === leaf.strides[i])
  );
}

/** How many edges of the graph below the roots lead to each node. */
function countDependencies(roots: readonly GraphNode[]): Map<GraphNode, number> {
  const dependencies = new Map<GraphNode, number>();
  const seen = new Set(roots);
  const pending = [...roots];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    for (const edge of node.edges) {
      if (edge === undefined) continue;
      dependencies.set(edge.node, (dependencies.get(edge.node) ?? 0) + 1);
      if (seen.has(edge.node)) continue;
      seen.add(edge.node);
      pending.push(edge.node);
    }
  }
  return dependencies;
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
