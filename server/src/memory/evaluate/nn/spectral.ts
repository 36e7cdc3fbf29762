/** What both forms of `spectral_norm` compute: the power method and the weight over its largest singular value. */
import { Tensor } from "../../tensor";
import { CallArguments } from "../arguments";
import { runOperator } from "../bridge";
import type { Interpreter } from "../interpreter";
import { Float, type Value } from "../values";

export interface SpectralOptions {
  readonly dim: number;
  readonly iterations: number;
  readonly eps: Value;
}

/** The two vectors of the power iteration, which is the first one it renews. */
interface Vectors {
  readonly u: Value;
  readonly v: Value;
  readonly first: "u" | "v";
}

/** The weight as a matrix, the outputs in front. */
export function spectralMatrix(
  interpreter: Interpreter,
  weight: Value,
  dim: number,
  how: "reshape" | "flatten",
): Value {
  let matrix = weight;
  if (dim !== 0 && weight instanceof Tensor) {
    const others = weight.shape.map((_, i) => i).filter((i) => i !== dim);
    matrix = runOperator(interpreter, "Tensor.permute", new CallArguments([weight, dim, ...others]));
  }
  const rows = matrix instanceof Tensor ? (matrix.shape[0] ?? 1) : 1;
  return how === "reshape"
    ? runOperator(interpreter, "Tensor.reshape", new CallArguments([matrix, rows, -1]))
    : runOperator(interpreter, "Tensor.flatten", new CallArguments([matrix, 1]));
}

/** Renews both vectors in place, without a graph. */
export function runPowerMethod(
  interpreter: Interpreter,
  matrix: Value,
  { u, v, first }: Vectors,
  { iterations, eps }: SpectralOptions,
): void {
  const { execution } = interpreter;
  const renew = (vector: Value, other: Value, isTransposed: boolean): void => {
    const mark = interpreter.references.mark();
    const left = isTransposed ? runOperator(interpreter, "Tensor.t", new CallArguments([matrix])) : matrix;
    const product = runOperator(interpreter, "torch.mv", new CallArguments([left, other]));
    const keywords = new Map<string, Value>([
      ["dim", 0],
      ["eps", eps ?? new Float(1e-12)],
      ["out", vector],
    ]);
    runOperator(interpreter, "torch.nn.functional.normalize", new CallArguments([product], keywords));
    interpreter.references.releaseTo(mark);
  };
  execution.pushGradMode(false);
  for (let i = 0; i < iterations; i++) {
    if (first === "v") renew(v, u, true);
    renew(u, v, false);
    if (first === "u") renew(v, u, true);
  }
  execution.popGradMode();
}

/** `weight / dot(u, mv(matrix, v))`. */
export function reduceToNorm(
  interpreter: Interpreter,
  weight: Value,
  matrix: Value,
  { u, v }: Pick<Vectors, "u" | "v">,
  dot: "torch.dot" | "torch.vdot",
): Value {
  const mark = interpreter.references.mark();
  const product = runOperator(interpreter, "torch.mv", new CallArguments([matrix, v]));
  const sigma = runOperator(interpreter, dot, new CallArguments([u, product]));
  interpreter.references.settle(mark, sigma);
  return runOperator(interpreter, "Tensor.__truediv__", new CallArguments([weight, sigma]));
}
