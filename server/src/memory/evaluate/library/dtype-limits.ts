/** The limits of floating-point types, as `torch.finfo` gives them. */
import type { Dtype } from "../../tensor";

export interface DtypeLimits {
  readonly min: number;
  readonly max: number;
  readonly eps: number;
}

export const dtypeLimits: Readonly<Partial<Record<Dtype, DtypeLimits>>> = {
  float64: { min: -1.7976931348623157e308, max: 1.7976931348623157e308, eps: 2.220446049250313e-16 },
  float32: { min: -3.4028234663852886e38, max: 3.4028234663852886e38, eps: 1.1920928955078125e-7 },
  float16: { min: -65504, max: 65504, eps: 0.0009765625 },
  bfloat16: { min: -3.3895313892515355e38, max: 3.3895313892515355e38, eps: 0.0078125 },
};
