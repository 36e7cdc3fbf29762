/**
 * The execution of a training step, traced: every operator that runs, what it allocates, what the graph keeps, what is
 * freed when. All counts are bytes; nothing here holds values.
 *
 * Ownership follows CPython: whoever gets a tensor from `call`, `parameter`, … owns one reference and gives it back with
 * `release`. A storage lives while a tensor on it is referenced or a graph node saved it. Arguments are borrowed.
 */
import type { Message } from "../messages/message";
import type { Span } from "../python/tree";
import { AllocationLog, ShapeSet } from "./allocation-log";
import { CheckpointSegment, enough, Replay } from "./checkpoint";
import { runBackward } from "./engine";
import {
  metadataOf,
  type BackwardFunction,
  type Edge,
  type GraphNode,
  type OutputMetadata,
  type SavedTensor,
} from "./graph";
import { LiveMemory, nowhere, type Location, type Peak } from "./live-memory";
import type { Argument, Keywords } from "./operators/argument";
import { tensorsIn } from "./operators/argument";
import type { EffectRecorder } from "./operators/effects";
import { memoOf, remembered, type OperatorMemo, type Recordings } from "./operators/memo";
import { callOperator, findOperator } from "./operators/registry";
import type { AttentionBackend } from "./setup";
import {
  canRequireGrad,
  contiguousStrides,
  dtypeBytes,
  elementCount,
  isFloating,
  Storage,
  Tensor,
  type Dtype,
  type StorageKind,
} from "./tensor";

export { nowhere };
export type { Location, Peak };
export type { LiveBytes, Phase, TimelinePoint } from "./live-memory";

export interface ExecutionOptions {
  /** Which kernels PyTorch dispatches to: they differ in what they save and allocate. */
  readonly device: "cuda" | "cpu";
  /**
   * Kernel behind scaled_dot_product_attention on CUDA. `auto` is what PyTorch does on a card of compute capability 8.0
   * or later: flash for half precision without a mask, else memory-efficient.
   */
  readonly attention?: AttentionBackend | "auto";
}

/** `torch.autocast(device, dtype, enabled, cache_enabled)`. */
export interface AutocastMode {
  readonly enabled: boolean;
  readonly dtype: Dtype;
  readonly cache?: boolean;
}

/** Multiply-adds of matrix products, convolutions and attention: of the forward, and of what backward computes again. */
export interface Work {
  readonly forward: number;
  readonly again: number;
}

export class Execution extends LiveMemory {
  readonly device: "cuda" | "cpu";
  readonly attention: AttentionBackend | "auto";
  /** Attention kernels that ran, in order of call. */
  readonly attentionKernels: string[] = [];
  /** Kernels that are known to hold more than is counted, by place and reason. */
  readonly bounds = new Map<string, { readonly reason: Message; readonly span: Span | undefined }>();
  /** Leaves that got a gradient, also where it was added to the one that they had. */
  readonly reached = new Set<Tensor>();
  readonly parameters: Tensor[] = [];
  readonly buffers: Tensor[] = [];

  /** Set while the host computes: what is allocated is in its memory. */
  private isOnHost = false;
  /** Set while an operator is recorded. */
  effects: EffectRecorder | undefined;
  /** What operators have done before, with the kernels that this execution chooses. */
  readonly memo: OperatorMemo;
  private storageCount = 0;
  private nodeCount = 0;
  private readonly gradModes: boolean[] = [];
  private readonly autocastModes: AutocastMode[] = [];
  private readonly autocastCache = new Map<Tensor, Tensor>();
  /** Innermost last: segments that are being recorded, and segments that are being computed again. */
  private readonly packing: { readonly segment: CheckpointSegment; readonly again: boolean }[] = [];
  private recording: { record: CheckpointSegment["record"] }[] = [];
  private products = { forward: 0, again: 0 };
  private copiedShapes = { shapes: new ShapeSet([]), parameters: 0 };

  constructor(options: ExecutionOptions) {
    super();
    this.device = options.device;
    this.attention = options.attention ?? "auto";
    this.memo = memoOf(this);
  }

  // --- Model states and inputs ------------------------------------------------------------------------------------

  /** A new leaf parameter; the caller owns one reference. */
  parameter(shape: readonly number[], dtype: Dtype = "float32", requiresGrad = true, name?: string): Tensor {
    const tensor = this.allocate(shape, dtype, { kind: "parameter" });
    tensor.requiresGrad = requiresGrad;
    tensor.name = name;
    this.parameters.push(tensor);
    return tensor;
  }

  /** `nn.Parameter(tensor)`: a leaf on the same storage, which now belongs to the model states. */
  parameterFrom(source: Tensor, requiresGrad = true, name?: string): Tensor {
    this.changeKind(source.storage, "parameter");
    const tensor = this.alias(source, source.shape, source.strides);
    tensor.requiresGrad = requiresGrad;
    tensor.name = name;
    this.parameters.push(tensor);
    return tensor;
  }

  /** A new buffer; the caller owns one reference. */
  buffer(shape: readonly number[], dtype: Dtype = "float32", name?: string): Tensor {
    const tensor = this.allocate(shape, dtype, { kind: "buffer" });
    tensor.name = name;
    this.buffers.push(tensor);
    return tensor;
  }

  /** `register_buffer(name, tensor)` with a tensor that exists: its storage now belongs to the model states. */
  asBuffer(tensor: Tensor): void {
    if (tensor.storage.kind === "activation") this.changeKind(tensor.storage, "buffer");
    this.buffers.push(tensor);
  }

  /** A model input or target. `bound` is the exclusive upper bound of integer values. */
  input(shape: readonly number[], dtype: Dtype, bound?: number): Tensor {
    const tensor = this.allocate(shape, dtype, { kind: "input" });
    tensor.bound = bound;
    return tensor;
  }

  /** `model.to(dtype)`: floating parameters and buffers change their dtype in place; ties stay tied. `only` names some of them. */
  castStates(dtype: Dtype, only?: Iterable<Tensor>): void {
    const done = new Map<Storage, Storage>();
    for (const tensor of new Set(only ?? [...this.parameters, ...this.buffers])) {
      if (isFloating(tensor.dtype)) this.castInPlace(tensor, dtype, done);
    }
  }

  private castInPlace(tensor: Tensor, dtype: Dtype, done: Map<Storage, Storage>): void {
    const old = tensor.storage;
    let storage = done.get(old);
    if (storage === undefined) {
      const bytes = (old.bytes / dtypeBytes[tensor.dtype]) * dtypeBytes[dtype];
      storage = new Storage(this.storageCount++, bytes, old.kind, old.producer);
      done.set(old, storage);
    }
    this.moveTo(tensor, storage);
    tensor.dtype = dtype;
    tensor.layout = 0;
  }

  private moveTo(tensor: Tensor, storage: Storage): void {
    const old = tensor.storage;
    if (tensor.references > 0) this.holdStorage(storage);
    tensor.storage = storage;
    if (tensor.references > 0) this.dropStorage(old);
  }

  /** `tensor.data = source`: the tensor looks at the source's storage from now on; one of a parameter is a parameter's again. */
  setData(tensor: Tensor, source: Tensor): void {
    const { kind } = tensor.storage;
    if (kind === "parameter" || kind === "buffer") this.changeKind(source.storage, kind);
    this.moveTo(tensor, source.storage);
    tensor.shape = source.shape;
    tensor.strides = source.strides;
    tensor.dtype = source.dtype;
    tensor.layout = 0;
    tensor.accumulator = undefined;
  }

  // --- Python's references ----------------------------------------------------------------------------------------

  /** Python (or a container of it) holds the tensor once more. */
  retain(tensor: Tensor): void {
    if (this.recording.length > 0) this.record({ kind: "retain", tensor });
    this.holdTensor(tensor);
  }

  /** Python gives one reference back. */
  release(tensor: Tensor): void {
    if (this.recording.length > 0) this.record({ kind: "release", tensor });
    this.dropTensor(tensor);
  }

  /** For every tensor inside the value. */
  retainAll(value: Argument | undefined): void {
    for (const tensor of tensorsIn(value)) this.retain(tensor);
  }

  releaseAll(value: Argument | undefined): void {
    for (const tensor of tensorsIn(value)) this.release(tensor);
  }

  // --- Operators --------------------------------------------------------------------------------------------------

  /** Whether a function (`torch.relu`, `torch.nn.functional.relu`) or method (`Tensor.view`) is in the table. */
  supports(name: string): boolean {
    return findOperator(name) !== undefined;
  }

  /**
   * Runs one operator. Names: `torch.cat`, `torch.nn.functional.linear`, `Tensor.view`, `Tensor.__add__`,
   * `Tensor.__getitem__`, attributes such as `Tensor.T` without arguments. For methods the tensor is the first positional
   * argument. The caller owns the tensors in the answer. Unknown when the operator, an argument or a shape is not
   * understood: the reason says which.
   */
  call(name: string, positional: readonly Argument[], keywords: Keywords, location: Location): Argument {
    const outer = this.running;
    if (this.phase !== "backward") this.running = { operator: name, location };
    const recording = this.recording;
    if (recording.length > 0) this.recording = [];
    let result: Argument;
    this.callDepth++;
    try {
      result = this.run(name, positional, keywords, location);
    } finally {
      this.callDepth--;
      this.recording = recording;
      this.running = outer;
    }
    if (recording.length > 0) this.record({ kind: "call", name, positional, keywords, location, result });
    return result;
  }

  private run(
    name: string,
    positional: readonly Argument[],
    keywords: Keywords,
    location: Location,
  ): Argument {
    const { effects } = this;
    if (this.isOnHost) return callOperator(this, name, positional, keywords, location);
    if (effects === undefined) return remembered(this, { name, positional, keywords, location });
    effects.entered(name);
    const result = callOperator(this, name, positional, keywords, location);
    effects.left();
    return result;
  }

  /** What runs now is another operator at the same place; in backward it is the graph's node that runs. */
  enter(operator: string): void {
    if (this.phase !== "backward") this.running = { operator, location: this.running.location };
  }

  /** What is run allocates in the host's memory. */
  inHostMemory<Result>(run: () => Result): Result {
    const outer = this.isOnHost;
    this.isOnHost = true;
    try {
      return run();
    } finally {
      this.isOnHost = outer;
    }
  }

  // --- Modes ------------------------------------------------------------------------------------------------------

  get gradEnabled(): boolean {
    return this.gradModes.at(-1) ?? true;
  }

  /** `torch.no_grad()`, `torch.enable_grad()`, `torch.set_grad_enabled(flag)` entered. */
  pushGradMode(enabled: boolean): void {
    this.record({ kind: "push-grad", enabled });
    this.gradModes.push(enabled);
  }

  popGradMode(): void {
    this.record({ kind: "pop-grad" });
    this.gradModes.pop();
  }

  /** The innermost autocast region, when it is enabled. */
  get autocast(): AutocastMode | undefined {
    const mode = this.autocastModes.at(-1);
    return mode?.enabled === true ? mode : undefined;
  }

  pushAutocast(mode: AutocastMode): void {
    this.record({ kind: "push-autocast", mode });
    this.autocastModes.push(mode);
  }

  /** Leaving the outermost region drops the cached low-precision copies of the weights. */
  popAutocast(): void {
    this.record({ kind: "pop-autocast" });
    this.autocastModes.pop();
    if (this.autocastModes.length > 0) return;
    for (const copy of this.autocastCache.values()) this.dropTensor(copy);
    this.autocastCache.clear();
  }

  /** Inside a kernel autocast is off; the region itself goes on. */
  suspendAutocast(): void {
    const mode = this.autocastModes.at(-1);
    this.autocastModes.push({ enabled: false, dtype: mode?.dtype ?? "float32" });
  }

  resumeAutocast(): void {
    this.autocastModes.pop();
  }

  /**
   * The cached copy of a weight (the cache owns it), made by `cast` (owned) when there is none. It gets its node even under
   * `no_grad`, for those who find it in the cache later.
   */
  cachedCast(weight: Tensor, cast: () => Tensor): Tensor {
    let copy = this.autocastCache.get(weight);
    if (copy === undefined) {
      this.gradModes.push(true);
      copy = cast();
      this.gradModes.pop();
      this.effects?.keptCopy(weight, copy);
      this.autocastCache.set(weight, copy);
    } else {
      this.effects?.foundCopy(weight, copy);
    }
    this.holdTensor(copy);
    return copy;
  }

  hasCopyOf(weight: Tensor): boolean {
    return this.autocastCache.size > 0 && this.autocastCache.has(weight);
  }

  /** The copy that autocast's cache has of a weight. */
  copyOf(weight: Tensor): Tensor {
    return this.autocastCache.get(weight) ?? weight;
  }

  /** Autocast's cache takes over a reference to a copy of a weight. */
  keepCopy(weight: Tensor, copy: Tensor): void {
    this.autocastCache.set(weight, copy);
  }

  // --- Checkpoints ------------------------------------------------------------------------------------------------

  /**
   * `torch.utils.checkpoint.checkpoint(…, use_reentrant=False)` is about to call its function with `inputs`. Everything
   * between this and `endCheckpoint` is recorded, keeps nothing, and runs again when backward needs it. `bound` are tensors
   * that the function holds itself, as a `functools.partial` does.
   */
  beginCheckpoint(inputs: readonly Tensor[], bound: readonly Tensor[] = []): CheckpointSegment {
    const segment = new CheckpointSegment(this, inputs, this.gradEnabled, this.autocastModes.at(-1), bound);
    this.packing.push({ segment, again: false });
    this.recording.push(segment);
    return segment;
  }

  endCheckpoint(segment: CheckpointSegment): void {
    this.packing.splice(this.packing.findIndex((entry) => entry.segment === segment));
    this.recording.splice(this.recording.indexOf(segment));
    segment.close();
  }

  /** The same with `use_reentrant=True`: forward runs without a graph. */
  beginReentrantCheckpoint(inputs: readonly Tensor[]): ReentrantCheckpoint {
    const segment = new CheckpointSegment(this, [], this.gradEnabled, this.autocastModes.at(-1));
    this.gradModes.push(false);
    this.recording.push(segment);
    return { segment, inputs };
  }

  endReentrantCheckpoint(checkpoint: ReentrantCheckpoint, outputs: readonly Tensor[]): void {
    const { segment, inputs } = checkpoint;
    this.recording.splice(this.recording.indexOf(segment));
    this.gradModes.pop();
    if (!this.needsGraph(inputs)) return;
    this.attach({
      name: "CheckpointFunctionBackward",
      inputs,
      outputs,
      saved: inputs,
      backward: (frame, gradients, saved) =>
        this.reentrantBackward(segment, inputs, outputs, gradients, saved).map((g) =>
          g === undefined ? g : frame.own(g),
        ),
    });
  }

  private reentrantBackward(
    segment: CheckpointSegment,
    inputs: readonly Tensor[],
    outputs: readonly Tensor[],
    gradients: readonly (Tensor | undefined)[],
    saved: readonly (Tensor | undefined)[],
  ): (Tensor | undefined)[] {
    const replacement = new Map<Tensor, Tensor>();
    const leaves = inputs.map((input, i) => {
      const source = saved[i] ?? input;
      const leaf = this.alias(source, source.shape, source.strides);
      leaf.requiresGrad = input.requiresGrad;
      replacement.set(input, leaf);
      return leaf;
    });
    const replay = new Replay(this, segment.events, replacement);
    this.gradModes.push(true);
    if (segment.autocast !== undefined) this.pushAutocast(segment.autocast);
    replay.run();
    if (segment.autocast !== undefined) this.popAutocast();
    this.gradModes.pop();
    const roots = outputs.map((output, i) => ({
      tensor: replay.counterpart(output),
      gradient: gradients[i],
    }));
    runBackward(this, roots, false);
    replay.dropAll();
    return leaves.map((leaf) => {
      const gradient = leaf.gradient;
      leaf.gradient = undefined;
      this.dropTensor(leaf);
      return gradient;
    });
  }

  pushRecomputation(segment: CheckpointSegment): void {
    this.packing.push({ segment, again: true });
  }

  popRecomputation(): void {
    this.packing.pop();
  }

  // --- Training step ----------------------------------------------------------------------------------------------

  /** `loss.backward()`. `gradient` is borrowed; ones are made when it is left out. */
  backward(loss: Tensor, options: { gradient?: Tensor; retainGraph?: boolean } = {}): void {
    const outer = this.phase;
    this.phase = "backward";
    runBackward(this, [{ tensor: loss, gradient: options.gradient }], options.retainGraph ?? false);
    this.phase = outer;
  }

  /** `optimizer.zero_grad()` or `model.zero_grad()`. Not setting to None keeps the gradients' memory. */
  zeroGradients(parameters: Iterable<Tensor>, setToNone = true): void {
    if (!setToNone) return;
    for (const parameter of parameters) {
      if (parameter.gradient !== undefined) this.dropTensor(parameter.gradient);
      parameter.gradient = undefined;
    }
  }

  /** The running operator holds more than is counted, and nobody says how much: what it is part of is a lower bound. */
  noteBound(reason: Message): void {
    this.noteBoundAt(reason, this.running.location.span);
  }

  noteBoundAt(reason: Message, span: Span | undefined): void {
    this.effects?.abandon();
    this.bounds.set(`${span?.start} ${reason.text.en}`, { reason, span });
  }

  /** Begins to log what is allocated and freed from here on, in a step of `batch` samples. */
  beginLog(batch: number): AllocationLog {
    return (this.log = new AllocationLog(this.storageCount, batch, this.shapesCopied()));
  }

  /** Of the parameters that autocast may copy. */
  private shapesCopied(): ShapeSet {
    const { length } = this.parameters;
    if (this.copiedShapes.parameters !== length) {
      const single = this.parameters.filter(({ dtype }) => dtype === "float32");
      this.copiedShapes = { shapes: new ShapeSet(single), parameters: length };
    }
    return this.copiedShapes.shapes;
  }

  // --- Work -------------------------------------------------------------------------------------------------------

  /**
   * An operator has computed so many multiply-adds, as torch.utils.flop_counter counts them (one is two of its FLOPs). Said
   * after `attach`: a recomputation ends before the last operator, once what that one saves is there.
   */
  noteProducts(multiplyAdds: number): void {
    this.effects?.computed(multiplyAdds);
    if (this.phase === "forward") this.products.forward += multiplyAdds;
    else if (this.phase === "backward" && this.callDepth > 0) this.products.again += multiplyAdds;
  }

  /** What was noted since the last call. */
  takeWork(): Work {
    const work = this.products;
    this.products = { forward: 0, again: 0 };
    return work;
  }

  // --- For operators: memory --------------------------------------------------------------------------------------

  /** A new tensor on a new storage, owned by the caller. */
  allocate(
    shape: readonly number[],
    dtype: Dtype,
    options: { readonly kind?: StorageKind; readonly strides?: readonly number[] } = {},
  ): Tensor {
    const bytes = elementCount(shape) * dtypeBytes[dtype];
    const strides = options.strides ?? contiguousStrides(shape);
    const storage = options.kind ?? "activation";
    const tensor = this.allocateAs({ shape, strides, dtype, bytes, storage, layout: 0 });
    this.effects?.allocated(tensor);
    return tensor;
  }

  /** The same of what is known already: the bytes of the storage, and the layout's number where it has one. */
  allocateAs({ shape, strides, dtype, bytes, storage: kind, layout }: Allocation): Tensor {
    const where = this.isOnHost ? "host" : kind;
    const storage = new Storage(this.storageCount++, bytes, where, this.running.operator);
    if (this.packing.length > 0 && this.phase === "backward") this.rememberPeak(storage);
    const tensor = new Tensor(storage, shape, strides, dtype);
    tensor.layout = layout;
    this.hold(tensor);
    this.log?.shaped(storage, tensor);
    this.notePeak();
    return tensor;
  }

  /** Another tensor on the same storage, owned by the caller, without a graph. */
  alias(source: Tensor, shape: readonly number[], strides: readonly number[], dtype = source.dtype): Tensor {
    const tensor = new Tensor(source.storage, shape, strides, dtype);
    this.hold(tensor);
    this.effects?.aliased(tensor, source);
    return tensor;
  }

  /** The same of what is known already. */
  aliasAs(source: Tensor, { shape, strides, dtype, layout }: Allocation): Tensor {
    const tensor = new Tensor(source.storage, shape, strides, dtype);
    tensor.layout = layout;
    this.hold(tensor);
    return tensor;
  }

  /** A view keeps the tensor that it looks at alive, as PyTorch's view metadata do. */
  hangOn(view: Tensor, base: Tensor): void {
    this.effects?.based(view, base);
    view.base = base;
    this.hold(base);
  }

  holdTensor(tensor: Tensor): void {
    this.effects?.held(tensor);
    this.hold(tensor);
  }

  dropTensor(tensor: Tensor): void {
    this.effects?.dropped(tensor);
    this.drop(tensor);
  }

  private hold(tensor: Tensor): void {
    if (tensor.references++ > 0) return;
    this.holdStorage(tensor.storage);
    if (tensor.node !== undefined) tensor.node.references++;
  }

  private drop(tensor: Tensor): void {
    if (tensor.references === 0) return;
    if (--tensor.references > 0) return;
    this.dropStorage(tensor.storage);
    if (tensor.base !== undefined) this.drop(tensor.base);
    if (tensor.gradient !== undefined) this.drop(tensor.gradient);
    tensor.gradient = undefined;
    if (tensor.node !== undefined) this.dropNode(tensor.node);
  }

  override changeKind(storage: Storage, kind: StorageKind): void {
    if (storage.kind !== kind) this.effects?.abandon();
    super.changeKind(storage, kind);
  }

  // --- For operators: the graph -----------------------------------------------------------------------------------

  /** Whether an operator on these inputs makes a graph node. */
  needsGraph(inputs: readonly (Tensor | undefined)[]): boolean {
    if (!this.gradEnabled) return false;
    for (const input of inputs) if (input?.requiresGrad === true) return true;
    return false;
  }

  /**
   * Makes the node of an operator and hangs the outputs on it. Call it only when `needsGraph(inputs)`; saved tensors are
   * kept in the order given.
   */
  attach(attached: AttachedNode): GraphNode {
    const recordings = this.effects?.attached(attached) ?? attached.recordings;
    const { name, inputs, outputs, saved, backward, dropped, metadata } = attached;
    const saving = saved ?? nothingSaved;
    const kept = new Array<SavedTensor | undefined>(saving.length);
    for (let i = 0; i < saving.length; i++) {
      const tensor = saving[i];
      kept[i] = tensor === undefined ? undefined : this.save(tensor, outputs);
    }
    const edges = new Array<Edge | undefined>(inputs.length);
    for (let i = 0; i < inputs.length; i++) {
      const edge = this.edgeOf(inputs[i]);
      if (edge !== undefined) this.referTo(edge.node);
      edges[i] = edge;
    }
    const made: GraphNode = {
      name,
      sequence: this.nodeCount++,
      location: this.running.location,
      edges,
      saved: kept,
      outputs: metadata ?? outputs.map(metadataOf),
      backward,
      references: 0,
      pending: undefined,
      leaf: undefined,
      holdsLeaf: false,
      dropped,
      recordings,
    };
    for (let index = 0; index < outputs.length; index++) {
      const output = outputs[index];
      if (output === undefined || !canRequireGrad(output.dtype)) continue;
      if (output.node !== undefined) this.dropNode(output.node);
      output.node = made;
      output.outputIndex = index;
      output.requiresGrad = true;
      made.references++;
    }
    return made;
  }

  /** The node of a `torch.autograd.Function`, made by Python code: a checkpoint that computes it again makes it again. */
  attachFunction(node: FunctionNode): void {
    const outer = this.running;
    if (this.phase !== "backward") this.running = { operator: node.name, location: node.location };
    this.attach(node);
    this.running = outer;
    this.record({ kind: "function", node });
  }

  /** Operators of a user's backward are no recomputation. */
  inUserBackward<Result>(run: () => Result): Result {
    const outer = this.callDepth;
    this.callDepth = Number.NEGATIVE_INFINITY;
    try {
      return run();
    } finally {
      this.callDepth = outer;
    }
  }

  /** Where the gradient of a tensor goes. */
  edgeOf(tensor: Tensor | undefined): { node: GraphNode; slot: number } | undefined {
    if (tensor === undefined || !tensor.requiresGrad) return undefined;
    if (tensor.node !== undefined) return { node: tensor.node, slot: tensor.outputIndex };
    tensor.accumulator ??= {
      name: "AccumulateGrad",
      sequence: Number.MAX_SAFE_INTEGER,
      location: nowhere,
      edges: [],
      saved: [],
      outputs: [{ shape: tensor.shape, dtype: tensor.dtype }],
      backward: () => [],
      references: 1,
      pending: undefined,
      leaf: tensor,
      holdsLeaf: false,
      dropped: undefined,
      recordings: undefined,
    };
    return { node: tensor.accumulator, slot: 0 };
  }

  private save(tensor: Tensor, outputs: readonly (Tensor | undefined)[]): SavedTensor {
    const hook = this.packing.at(-1);
    if (hook !== undefined && !hook.again) return hook.segment.pack();
    if (hook?.segment.packRecomputed(tensor) === true) {
      // Operands are saved before the kernel runs: it does not run any more.
      const isResult = outputs.some((output) => output?.storage === tensor.storage);
      if (!isResult) for (const output of outputs.toReversed()) this.takeBack(output?.storage);
      throw enough;
    }
    const { storage, shape, strides, dtype, layout } = tensor;
    // Inside a recomputation the segment keeps the tensor, the new graph keeps nothing.
    if (hook !== undefined) return { kind: "stored", storage: emptyStorage, shape, strides, dtype, layout };
    this.holdSaved(storage);
    return { kind: "stored", storage, shape, strides, dtype, layout };
  }

  /** The saved tensors of a node that is about to run; the caller owns them. */
  unpack(node: GraphNode): (Tensor | undefined)[] {
    const { saved } = node;
    const tensors = new Array<Tensor | undefined>(saved.length);
    for (let i = 0; i < saved.length; i++) {
      const one = saved[i];
      const stored = one?.kind === "recomputed" ? one.segment.unpack(one) : one;
      if (stored === undefined) {
        tensors[i] = undefined;
        continue;
      }
      const tensor = new Tensor(stored.storage, stored.shape, stored.strides, stored.dtype);
      tensor.layout = stored.layout;
      this.holdTensor(tensor);
      tensors[i] = tensor;
      if (one?.kind === "recomputed") one.segment.handOver(one);
    }
    return tensors;
  }

  /**
   * A checkpoint hands a recomputed tensor to the node's kernels and keeps nothing: it goes with them, before gradients are
   * reduced and cast, while what is saved without a checkpoint stays until the node has done that too
   * (`torch/utils/checkpoint.py`, `unpack_hook`).
   */
  dropRecomputed(node: GraphNode, unpacked: (Tensor | undefined)[]): void {
    const { saved } = node;
    for (let i = 0; i < saved.length; i++) {
      const tensor = unpacked[i];
      if (saved[i]?.kind !== "recomputed" || tensor === undefined) continue;
      unpacked[i] = undefined;
      this.dropTensor(tensor);
    }
  }

  /** The node has run, or nothing leads to it any more. */
  dropSavedOf(node: GraphNode): void {
    const { saved } = node;
    if (saved.length === 0) return;
    node.saved = [];
    for (const entry of saved) {
      if (entry?.kind === "stored" && entry.storage !== emptyStorage) this.dropSaved(entry.storage);
      if (entry?.kind === "recomputed") entry.segment.finish(entry);
    }
  }

  /** One reference to the node more. The graph holds a leaf, and so the gradient that backward leaves there. */
  private referTo(node: GraphNode): void {
    node.references++;
    if (node.leaf === undefined || node.holdsLeaf || node.leaf.storage.kind === "parameter") return;
    node.holdsLeaf = true;
    this.hold(node.leaf);
  }

  /** One reference to the node less; at zero its saved tensors go, and its references to earlier nodes. */
  dropNode(node: GraphNode): void {
    if (node.references > 1 && !node.holdsLeaf) {
      node.references--;
      return;
    }
    const pending = [node];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      next.references--;
      if (next.leaf !== undefined && next.holdsLeaf && next.references === 1) {
        next.holdsLeaf = false;
        this.drop(next.leaf);
      }
      if (next.references > 0 || next.leaf !== undefined) continue;
      this.dropSavedOf(next);
      for (const edge of next.edges) if (edge !== undefined) pending.push(edge.node);
      next.edges = [];
      next.dropped?.();
    }
  }

  private record(event: Parameters<CheckpointSegment["record"]>[0]): void {
    for (const recorder of this.recording) recorder.record(event);
  }
}

/** What an operator hangs on the graph; `name` is PyTorch's, e.g. `MulBackward0`. Undefined entries are left out. */
export interface AttachedNode {
  readonly name: string;
  readonly inputs: readonly (Tensor | undefined)[];
  readonly outputs: readonly (Tensor | undefined)[];
  /** What backward will ask for, none when left out. */
  readonly saved?: readonly (Tensor | undefined)[];
  readonly backward: BackwardFunction;
  /** Called once when nothing leads to the node any more. */
  readonly dropped?: () => void;
  /** What the backward of nodes like this one did; where it depends on layouts alone. */
  readonly recordings?: Recordings | undefined;
  /** Of the outputs, where it is known already. */
  readonly metadata?: readonly OutputMetadata[];
}

const nothingSaved: readonly undefined[] = [];

/** What a `torch.autograd.Function` leaves in the graph. */
export interface FunctionNode extends AttachedNode {
  readonly location: Location;
  readonly saved: readonly (Tensor | undefined)[];
}

/** A tensor that is to be made, and the bytes of its storage. */
export interface Allocation {
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly dtype: Dtype;
  readonly bytes: number;
  readonly storage: StorageKind;
  readonly layout: number;
}

export interface ReentrantCheckpoint {
  readonly segment: CheckpointSegment;
  readonly inputs: readonly Tensor[];
}

const emptyStorage = new Storage(-1, 0, "host", "");
