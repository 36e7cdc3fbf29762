/** What a script feeds its model, read from the loop that trains it. */
import { message } from "../messages/message";
import { unknownReasons } from "../messages/estimate";
import type { Module } from "../python/tree";
import { argumentsAt } from "./evaluate/approach";
import type { CallArguments } from "./evaluate/arguments";
import { formOf } from "./evaluate/call-forms";
import { trainingStepArguments } from "./evaluate/library/lightning";
import type { BatchSampler } from "./evaluate/interpreter";
import type { AtTheEnd, WayToCall } from "./evaluate/way";
import { Allowance, type World } from "./evaluate/world";
import type { ArgumentForm, InputDimension, InputSpecification, ModelCall } from "./setup";
import type { Tensor } from "./tensor";
import { isUnknown, Unknown } from "./unknown";

/** Steps that both evaluations may take together: a tenth of a second of work. */
const mostSteps = 200_000;

export interface ScriptInputs {
  readonly inputs: readonly InputSpecification[];
  /** How the model is called with them; absent where they are its arguments, one after the other. */
  readonly call: ModelCall | undefined;
  /** Samples of one forward; undefined where the script does not say which dimension counts them. */
  readonly batch: number | undefined;
}

/**
 * The tensors that the model is called with: the script's own code is evaluated up to the call, once with batches as they
 * are and once with batches of twice the size, so that the dimensions which grow with the micro-batch are known from the
 * others. Where no loader makes the batches, the dimension that a variable called a batch size gives is the micro-batch.
 * Unknown, with the reason, as soon as one argument is not known.
 */
export function inputsOfScript(module: Module, way: WayToCall, world: World = {}): ScriptInputs | Unknown {
  return inputsAt(module, way, world, undefined, undefined);
}

/** The same of the batches that Lightning's `trainer.fit(…)` gives to the model's `training_step`. */
export function inputsOfFit(module: Module, way: WayToCall, world: World = {}): ScriptInputs | Unknown {
  return inputsAt(module, way, world, trainingStepArguments, "training_step");
}

function inputsAt(
  module: Module,
  way: WayToCall,
  outside: World,
  asked: AtTheEnd | undefined,
  method: string | undefined,
): ScriptInputs | Unknown {
  const world = { ...outside, allowance: new Allowance(mostSteps) };
  const at = (sampler: BatchSampler): Given | Unknown =>
    givenBy(argumentsAt(module, way, sampler, world, asked), way, method);
  const sampler = samplerOf(1);
  const given = at(sampler);
  if (isUnknown(given)) return given;
  const { tensors, call } = given;
  const [size, ...others] = sampler.sizes;
  if (size === undefined) return { ...namedDimension(tensors, sampler.named), call };
  if (others.length > 0) return new Unknown(message(unknownReasons.severalBatches), way.call);
  const doubled = at(samplerOf(2));
  if (isUnknown(doubled)) return doubled;
  // A number or a list that grows with the batch.
  if (JSON.stringify(doubled.call) !== JSON.stringify(call))
    return new Unknown(message(unknownReasons.plainArgument, { what: "…" }), way.call);
  return {
    batch: size,
    inputs: tensors.map((one, i) => growing(one, doubled.tensors[i]?.tensor, size)),
    call,
  };
}

function samplerOf(scale: number): BatchSampler {
  return { scale, sizes: new Set(), isEntering: false, named: new Set() };
}

interface GivenTensor {
  readonly name: string | undefined;
  readonly tensor: Tensor;
}

interface Given {
  readonly tensors: readonly GivenTensor[];
  readonly call: ModelCall | undefined;
}

function givenBy(
  args: CallArguments | Unknown,
  { call }: WayToCall,
  method: string | undefined,
): Given | Unknown {
  if (isUnknown(args)) return args;
  if (args.unknownKeywords !== undefined) return args.unknownKeywords;
  const tensors: Tensor[] = [];
  const positional: ArgumentForm[] = [];
  const keywords: (readonly [string, ArgumentForm])[] = [];
  for (const [i, value] of args.positional.entries()) {
    // What is none at first, such as a hidden state, may be a tensor in a later iteration.
    const isNone = value === null && method === undefined && call.positional[i]?.kind !== "None";
    if (isNone) return new Unknown(message(unknownReasons.plainArgument, { what: "…" }), call);
    const form = formOf(value, tensors, "…", call);
    if (isUnknown(form)) return form;
    positional.push(form);
  }
  for (const [name, value] of args.keywords) {
    if (value === null) continue;
    const form = formOf(value, tensors, name, call);
    if (isUnknown(form)) return form;
    keywords.push([name, form]);
  }
  if (tensors.length === 0) return new Unknown(message(unknownReasons.input), call);
  const names = new Map(
    keywords.flatMap(([name, form]) => ("input" in form ? [[form.input, name] as const] : [])),
  );
  const isPlain =
    method === undefined &&
    [...positional, ...keywords.map(([, form]) => form)].every(
      (form, i) => "input" in form && form.input === i,
    );
  return {
    tensors: tensors.map((tensor, i) => ({ name: isPlain ? names.get(i) : undefined, tensor })),
    call: isPlain ? undefined : { method, positional, keywords },
  };
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
function namedDimension(
  given: readonly GivenTensor[],
  named: ReadonlySet<number>,
): Omit<ScriptInputs, "call"> {
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
