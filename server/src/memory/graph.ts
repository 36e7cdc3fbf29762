/** The autograd graph: nodes with what they saved and where their gradients go. */
import type { CheckpointSegment } from "./checkpoint";
import type { Frame } from "./operators/frame";
import type { Recordings } from "./operators/memo";
import type { Location } from "./tape";
import type { Dtype, Storage, Tensor } from "./tensor";

/** A tensor kept for backward: the storage counts, its shape and strides are remembered. */
export interface StoredTensor {
  readonly kind: "stored";
  readonly storage: Storage;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly dtype: Dtype;
  /** As of the tensor. */
  readonly layout: number;
}

/** A tensor of a checkpointed segment: dropped, and computed again when backward asks for it. */
export interface RecomputedTensor {
  readonly kind: "recomputed";
  readonly segment: CheckpointSegment;
  readonly index: number;
  /** Filled by the recomputation. */
  stored: StoredTensor | undefined;
  /** Its node has run or died: the recomputation need not keep it. */
  done: boolean;
}

export type SavedTensor = StoredTensor | RecomputedTensor;

export interface Edge {
  readonly node: GraphNode;
  /** Which output of that node the gradient belongs to. */
  readonly slot: number;
}

export interface OutputMetadata {
  readonly shape: readonly number[];
  readonly dtype: Dtype;
}

const noOutput: OutputMetadata = { shape: [], dtype: "float32" };

/** A copy: the tensor itself is not kept alive. */
export function metadataOf(output: Tensor | undefined): OutputMetadata {
  return output === undefined ? noOutput : { shape: output.shape, dtype: output.dtype };
}

/**
 * Gradients of the outputs in, gradients of the inputs out; undefined where none is wanted or defined. Arguments are
 * borrowed; what is returned lives in the frame or is one of the arguments.
 */
export type BackwardFunction = (
  frame: Frame,
  gradients: readonly (Tensor | undefined)[],
  saved: readonly (Tensor | undefined)[],
  wanted: readonly boolean[],
) => (Tensor | undefined)[];

/** A node of the graph below the roots of a backward that is running. */
export interface Pending {
  /** The backward that waits for it. */
  readonly run: object;
  /** Edges that still lead to it. */
  dependencies: number;
  /** Gradients that wait for it, one slot an output. */
  readonly gradients: (Tensor | undefined)[];
  /** The same for a backward within which `run` runs: both may lead to one leaf. */
  readonly outer: Pending | undefined;
}

export interface GraphNode {
  readonly name: string;
  /** Order of creation; backward runs the highest first. */
  readonly sequence: number;
  readonly location: Location;
  /** One entry an input that may get a gradient; undefined where it does not need one. */
  edges: (Edge | undefined)[];
  saved: (SavedTensor | undefined)[];
  readonly outputs: readonly OutputMetadata[];
  backward: BackwardFunction;
  /** Tensors and later nodes that keep this one alive. */
  references: number;
  /** Set while a backward runs that leads here; that of the innermost one. */
  pending: Pending | undefined;
  /** For AccumulateGrad: the leaf. */
  readonly leaf: Tensor | undefined;
  /** Nodes lead here, and the leaf is no parameter: it lives at least as long as they do. */
  holdsLeaf: boolean;
  /** Called once when nothing leads to the node any more. */
  readonly dropped?: (() => void) | undefined;
  /** What the backward of nodes like this one did; absent where it depends on more than layouts. */
  readonly recordings?: Recordings | undefined;
}
