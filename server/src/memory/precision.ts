/** Precision modes: in which dtypes parameters, gradients and the optimizer's state are kept. */
import type { Precision } from "./setup";
import type { Dtype } from "./tensor";

export interface PrecisionMode {
  /** The dtype of parameters, buffers and floating inputs. */
  readonly states: Dtype;
  /** The dtype autocast computes in; undefined when it is off. */
  readonly autocast: Dtype | undefined;
}

const modes: Readonly<Record<Precision, PrecisionMode>> = {
  fp32: { states: "float32", autocast: undefined },
  "amp-fp16": { states: "float32", autocast: "float16" },
  "amp-bf16": { states: "float32", autocast: "bfloat16" },
  fp16: { states: "float16", autocast: undefined },
  bf16: { states: "bfloat16", autocast: undefined },
};

export function precisionMode(precision: Precision): PrecisionMode {
  return modes[precision];
}

/**
 * Bytes a parameter of model states with fp32 master weights, as Apex O2 and DeepSpeed's fp16/bf16 modes keep them: the
 * weights and gradients in half precision, and a copy of the weights and the optimizer's state in fp32. 16 bytes for Adam
 * (Rajbhandari et al. 2020, "ZeRO", section 3.1).
 */
export function masterWeightBytes(stateTensors: number): {
  parameters: number;
  gradients: number;
  optimizer: number;
} {
  return { parameters: 2, gradients: 2, optimizer: 4 + 4 * stateTensors };
}
