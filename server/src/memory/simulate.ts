/** From a traced step to its peak: the phases side by side, the optimizer's state under each, workspaces on top. */
import type { OptimizerNeeds } from "./optimizers";
import type { Location, Peak } from "./tape";

export type StepPhase = "forward" | "backward" | "step";

/** What a trace of one steady step gives. Bytes. */
export interface TracedStep {
  /** Highest live bytes of the forward, the previous output and loss still referenced. */
  readonly forward: Peak;
  readonly backward: Peak;
  /** Live bytes when backward is over: states, inputs, gradients, what Python still holds. */
  readonly after: number;
  readonly afterAllocated: number;
  /** The steps of several optimizers within an iteration; without them one step follows the backward. */
  readonly steps?: readonly SteppedBytes[];
}

/** Live bytes when an optimizer's step begins, and what it takes meanwhile. */
export interface SteppedBytes {
  readonly live: number;
  readonly allocated: number;
  readonly temporary: number;
  readonly temporaryAllocated: number;
  readonly location: Location | undefined;
}

export interface StepPeak {
  /** Bytes of live tensors. */
  readonly bytes: number;
  /** With CUDA's rounding and the workspaces of its libraries. */
  readonly allocated: number;
  readonly phase: StepPhase;
  readonly operator: string;
  readonly location: Location | undefined;
}

/**
 * Workspaces that cuBLAS and cuBLASLt allocate through PyTorch's allocator, once a handle and stream. 8,519,680 bytes are
 * CUBLAS_WORKSPACE_CONFIG's default `:4096:2:16:8`; Hopper and later take 32 MiB. Measured on a T4: goldens/cuda_peaks.json.
 */
const workspaces = {
  default: { cublas: 8_519_680, cublasLt: 1_048_576 },
  hopper: { cublas: 32 * 1024 ** 2, cublasLt: 32 * 1024 ** 2 },
} as const;

/** Bytes of workspaces on a card; `card` as in devices.ts. */
export function workspaceBytes(card: string | undefined): number {
  const isHopper = /^(g?h\d|b\d|rtx50)/i.test((card ?? "").replace(/[\s_-]/g, ""));
  const { cublas, cublasLt } = isHopper ? workspaces.hopper : workspaces.default;
  return cublas + cublasLt;
}

/** The highest of the three phases. Without an optimizer the step adds nothing. */
export function stepPeak(
  traced: TracedStep,
  needs: Pick<OptimizerNeeds, "state" | "stateAllocated" | "temporary" | "temporaryAllocated"> | undefined,
  workspace = 0,
): StepPeak {
  const state = needs?.state ?? 0;
  const stateAllocated = (needs?.stateAllocated ?? 0) + workspace;
  const phase = (name: "forward" | "backward", peak: Peak): StepPeak => ({
    bytes: peak.live + state,
    allocated: peak.allocated + stateAllocated,
    phase: name,
    operator: peak.operator,
    location: peak.location,
  });
  const last: SteppedBytes = {
    live: traced.after,
    allocated: traced.afterAllocated,
    temporary: needs?.temporary ?? 0,
    temporaryAllocated: needs?.temporaryAllocated ?? 0,
    location: undefined,
  };
  const phases: StepPeak[] = [
    phase("forward", traced.forward),
    phase("backward", traced.backward),
    ...(traced.steps ?? [last]).map((step): StepPeak => ({
      bytes: step.live + state + step.temporary,
      allocated: step.allocated + stateAllocated + step.temporaryAllocated,
      phase: "step",
      operator: "optimizer.step",
      location: step.location,
    })),
  ];
  return phases.reduce((highest, each) => (each.bytes > highest.bytes ? each : highest));
}
