/** What a script feeds its model, read from the loop that trains it. */
import { message } from "../messages/message";
import { unknownReasons } from "../messages/estimate";
import type { ResolveImport } from "../python/resolve-import";
import type { Module } from "../python/tree";
import { argumentsAt, type WayToCall } from "./evaluate/approach";
import type { CallArguments } from "./evaluate/arguments";
import type { BatchSampler } from "./evaluate/interpreter";
import type { Value } from "./evaluate/values";
import { Allowance } from "./evaluate/world";
import type { InputDimension, InputSpecification } from "./setup";
import { Tensor } from "./tensor";
import { isUnknown, Unknown } from "./unknown";

/** Steps that both evaluations may take together: a tenth of a second of work. */
const mostSteps = 200_000;

export interface ScriptInputs {
  readonly inputs: readonly InputSpecification[];
  /** Samples of one forward; undefined where the script does not say which dimension counts them. */
  readonly batch: number | undefined;
}

/**
 * The tensors that the model is called with: the script's own code is evaluated up to the call, once with batches as they
 * are and once with batches of twice the size, so that the dimensions which grow with the micro-batch are known from the
 * others. Where no loader makes the batches, the dimension that a variable called a batch size gives is the micro-batch.
 * Unknown, with the reason, as soon as one argument is not known.
 */
export function inputsOfScript(
  module: Module,
  way: WayToCall,
  resolveImport?: ResolveImport,
): ScriptInputs | Unknown {
  const world = { resolveImport, allowance: new Allowance(mostSteps) };
  const sampler = samplerOf(1);
  const given = tensorsOf(argumentsAt(module, way, sampler, world), way);
  if (isUnknown(given)) return given;
  const [size, ...others] = sampler.sizes;
  if (size === undefined) return namedDimension(given, sampler.named);
  if (others.length > 0) return new Unknown(message(unknownReasons.severalBatches), way.call);
  const doubled = tensorsOf(argumentsAt(module, way, samplerOf(2), world), way);
  if (isUnknown(doubled)) return doubled;
  return { batch: size, inputs: given.map((one, i) => growing(one, doubled[i]?.tensor, size)) };
}

function samplerOf(scale: number): BatchSampler {
  return { scale, sizes: new Set(), isEntering: false, named: new Set() };
}

interface GivenTensor {
  readonly name: string | undefined;
  readonly tensor: Tensor;
}

function tensorsOf(args: CallArguments | Unknown, { call }: WayToCall): readonly GivenTensor[] | Unknown {
  if (isUnknown(args)) return args;
  if (args.unknownKeywords !== undefined) return args.unknownKeywords;
  const given: readonly (readonly [string | undefined, Value])[] = [
    ...args.positional.map((value) => [undefined, value] as const),
    ...args.keywords,
  ];
  const tensors: GivenTensor[] = [];
  for (const [name, value] of given) {
    if (isUnknown(value)) return value;
    if (value === null && name !== undefined) continue;
    if (!(value instanceof Tensor))
      return new Unknown(message(unknownReasons.plainArgument, { what: name ?? "…" }), call);
    tensors.push({ name, tensor: value });
  }
  return tensors.length > 0 ? tensors : new Unknown(message(unknownReasons.input), call);
}

/** A dimension that doubles with the batch is so many times the batch; any other stays as it is. */
function growing(
  { name, tensor }: GivenTensor,
  doubled: Tensor | undefined,
  batch: number,
): InputSpecification {
  const dimensions = tensor.shape.map((size, i): InputDimension => {
    const perSample = size > 0 && doubled?.shape[i] === 2 * size && size % batch === 0;
    return perSample ? { factor: size / batch, perSample } : { factor: size, perSample: false };
  });
  return { name, dtype: tensor.dtype, dimensions, bound: tensor.bound };
}

/** Inputs of fixed sizes, unless one dimension of each is what the script calls its batch size. */
function namedDimension(given: readonly GivenTensor[], named: ReadonlySet<number>): ScriptInputs {
  const sizes = [...named].filter((size) =>
    given.every(({ tensor }) => tensor.shape.filter((one) => one === size).length === 1),
  );
  const batch = sizes.length === 1 ? sizes[0] : undefined;
  const inputs = given.map(({ name, tensor }) => ({
    name,
    dtype: tensor.dtype,
    dimensions: tensor.shape.map((size) =>
      size === batch ? { factor: 1, perSample: true } : { factor: size, perSample: false },
    ),
    bound: tensor.bound,
  }));
  return { batch, inputs };
}
