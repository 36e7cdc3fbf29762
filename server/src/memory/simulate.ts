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
  const phases: StepPeak[] = [
    phase("forward", traced.forward),
    phase("backward", traced.backward),
    {
      bytes: traced.after + state + (needs?.temporary ?? 0),
      allocated: traced.afterAllocated + stateAllocated + (needs?.temporaryAllocated ?? 0),
      phase: "step",
      operator: "optimizer.step",
      location: undefined,
    },
  ];
  return phases.reduce((highest, each) => (each.bytes > highest.bytes ? each : highest));
}
