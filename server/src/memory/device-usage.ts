/**
 * What the device shows for the process: more than PyTorch's allocated bytes, and only known as an interval. Figures:
 * measured on a T4 with eight models (goldens/cuda_peaks.json, from highwaterlabs/torch-preflight, MIT).
 */

/** Reserved over allocated: the allocator's segments are larger than what lies in them. */
export const allocatorSlack = { least: 0.06, most: 0.13 } as const;

/** Bytes of the CUDA context: right after its creation, and with cuBLAS and cuDNN loaded. Larger cards take more. */
export const cudaContext = { least: 110_100_480, most: 141_426_688 } as const;

export interface DeviceUsage {
  /** Bytes. */
  readonly least: number;
  readonly most: number;
}

/** From the peak of allocated bytes, cuBLAS workspaces included. */
export function deviceUsage(allocated: number): DeviceUsage {
  return {
    least: Math.round(allocated * (1 + allocatorSlack.least)) + cudaContext.least,
    most: Math.round(allocated * (1 + allocatorSlack.most)) + cudaContext.most,
  };
}
