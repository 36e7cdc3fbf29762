/**
 * `torch.nn.utils.weight_norm` and `spectral_norm`: parameters take a weight's place, and a hook computes the weight
 * before every forward. It stays on the module as a plain attribute until the next one replaces it
 * (torch/nn/utils/weight_norm.py, spectral_norm.py).
 */
import { elementCount, Tensor } from "../../tensor";
import type { Unknown } from "../../unknown";
import { isUnknown } from "../../unknown";
import { CallArguments } from "../arguments";
import { storeAttribute } from "../attributes";
import { runOperator } from "../bridge";
import type { Interpreter } from "../interpreter";
import { integer } from "../numbers";
import { NativeFunction, ObjectValue, type Native, type Value } from "../values";
import { attach, detachAttribute } from "./attach";
import { reduceToNorm, runPowerMethod, spectralMatrix, type SpectralOptions } from "./spectral";
import type { ModuleState } from "./state";

interface Target {
  readonly object: ObjectValue;
  readonly state: ModuleState;
  readonly name: string;
  readonly weight: Tensor;
}

/** The module and the parameter that `args` name; undefined when they are not known. */
export function weightOf(args: CallArguments): Target | undefined {
  const object = args.at(0) ?? null;
  const name = args.or(1, "name", "weight");
  if (!(object instanceof ObjectValue) || typeof name !== "string") return undefined;
  const state = object.module;
  const weight = state?.parameters.get(name);
  return state !== undefined && weight instanceof Tensor ? { object, state, name, weight } : undefined;
}

export function notFollowed(
  interpreter: Interpreter,
  args: CallArguments,
  name: string,
  span: Parameters<Native>[2],
): Unknown {
  return args.unknown() ?? interpreter.note(interpreter.unknown("call", span, { name }));
}

/** The dimension whose slices have a norm each: -1 for one norm over all of them. */
export function normDimension(args: CallArguments): number {
  return integer(args.or(2, "dim", 0)) ?? -1;
}

export function newParameter(
  interpreter: Interpreter,
  shape: readonly number[],
  like: Pick<Tensor, "dtype" | "requiresGrad">,
): Tensor {
  const made = interpreter.references.own(
    interpreter.execution.parameter(shape, like.dtype, like.requiresGrad),
  );
  interpreter.parameterTensors.add(made);
  return made;
}

/** What a magnitude along one dimension is like: 1 everywhere else, nothing at all for the whole weight. */
export function magnitudeShape(weight: Tensor, dim: number): readonly number[] {
  return dim === -1 ? [] : weight.shape.map((size, i) => (i === dim ? size : 1));
}

/** The weight stays readable until the first forward: a view of the parameter that took its place. */
function keepReadable(interpreter: Interpreter, { object, name, weight }: Target): void {
  const view = interpreter.references.own(
    interpreter.execution.alias(weight, weight.shape, weight.strides, weight.dtype),
  );
  interpreter.references.adopt(object, view);
  object.attributes.set(name, view);
}

/** Computes the weight before every forward. */
function addComputation(
  { object, state, name }: Target,
  compute: (interpreter: Interpreter, object: ObjectValue) => Value,
): void {
  const callee = new NativeFunction(`compute_${name}`, (interpreter, args) => {
    const module = args.at(0);
    if (!(module instanceof ObjectValue)) return null;
    const computed = compute(interpreter, module);
    if (isUnknown(computed)) interpreter.note(computed);
    storeAttribute(interpreter, module, name, computed);
    return null;
  });
  state.preHooks.push({ callee, takesKeywords: false });
  if (object.references > 0) callee.references++;
}

function part(object: ObjectValue, table: "parameters" | "buffers", name: string): Value {
  return object.module?.[table].get(name) ?? null;
}

/** A magnitude along one dimension and a direction of the weight's shape. */
export const weightNorm: Native = (interpreter, args, span) => {
  const target = weightOf(args);
  if (target === undefined) return notFollowed(interpreter, args, "weight_norm", span);
  const { object, name, weight } = target;
  const dim = normDimension(args);
  interpreter.references.keep(weight);
  detachAttribute(interpreter, object, name);
  const magnitude = newParameter(interpreter, magnitudeShape(weight, dim), weight);
  attach(interpreter, object, "parameters", `${name}_g`, magnitude);
  attach(interpreter, object, "parameters", `${name}_v`, weight);
  keepReadable(interpreter, target);
  addComputation(target, (inner, module) => {
    const [v, g] = [part(module, "parameters", `${name}_v`), part(module, "parameters", `${name}_g`)];
    return runOperator(inner, "torch._weight_norm", new CallArguments([v, g, dim]));
  });
  return object;
};

/** Dimension of the outputs: the second one of transposed convolutions. */
function outputDimension(object: ObjectValue, given: Value): number {
  const isTransposed = object.type.find((type) => type.path)?.includes("ConvTranspose") === true;
  return integer(given) ?? (isTransposed ? 1 : 0);
}

/** The arguments that both forms of `spectral_norm` have. */
export function spectralOptions(object: ObjectValue, args: CallArguments): SpectralOptions {
  return {
    dim: outputDimension(object, args.or(4, "dim", null)),
    iterations: integer(args.or(2, "n_power_iterations", 1)) ?? 1,
    eps: args.or(3, "eps", null),
  };
}

/** The vectors of the power iteration as buffers `{prefix}_u` and `{prefix}_v` of a module. */
export function addPowerVectors(
  interpreter: Interpreter,
  owner: ObjectValue,
  weight: Tensor,
  dim: number,
  prefix = "",
): void {
  const rows = weight.shape[dim] ?? 1;
  const columns = elementCount(weight.shape) / Math.max(1, rows);
  for (const [suffix, size] of [
    ["u", rows],
    ["v", columns],
  ] as const) {
    const buffer = interpreter.references.own(interpreter.execution.buffer([size], weight.dtype));
    attach(interpreter, owner, "buffers", `${prefix}_${suffix}`, buffer);
  }
}

/** The weight as it was, and the two vectors of the power iteration as buffers. */
export const spectralNorm: Native = (interpreter, args, span) => {
  const target = weightOf(args);
  if (target === undefined) return notFollowed(interpreter, args, "spectral_norm", span);
  const { object, name, weight } = target;
  const options = spectralOptions(object, args);
  interpreter.references.keep(weight);
  detachAttribute(interpreter, object, name);
  attach(interpreter, object, "parameters", `${name}_orig`, weight);
  keepReadable(interpreter, target);
  addPowerVectors(interpreter, object, weight, options.dim, name);
  addComputation(target, (inner, module) => {
    const original = part(module, "parameters", `${name}_orig`);
    let u = part(module, "buffers", `${name}_u`);
    let v = part(module, "buffers", `${name}_v`);
    const matrix = spectralMatrix(inner, original, options.dim, "reshape");
    if (module.module?.training === true) {
      runPowerMethod(inner, matrix, { u, v, first: "v" }, options);
      u = runOperator(inner, "Tensor.clone", new CallArguments([u]));
      v = runOperator(inner, "Tensor.clone", new CallArguments([v]));
    }
    return reduceToNorm(inner, original, matrix, { u, v }, "torch.dot");
  });
  return object;
};

/** Undoes either of them. */
export const plainWeight: Native = (interpreter, args) => {
  const object = args.at(0) ?? null;
  const name = args.or(1, "name", "weight");
  if (!(object instanceof ObjectValue) || object.module === undefined || typeof name !== "string")
    return object;
  const { parameters, preHooks } = object.module;
  const weight = parameters.get(`${name}_v`) ?? parameters.get(`${name}_orig`);
  if (!(weight instanceof Tensor)) return object;
  interpreter.references.keep(weight);
  for (const suffix of ["g", "v", "orig", "u"]) detachAttribute(interpreter, object, `${name}_${suffix}`);
  attach(interpreter, object, "parameters", name, weight);
  const at = preHooks.findIndex(
    ({ callee }) => callee instanceof NativeFunction && callee.name === `compute_${name}`,
  );
  if (at >= 0) preHooks.splice(at, 1);
  return object;
};
