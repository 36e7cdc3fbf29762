/**
 * `torch.nn.utils.parametrize`: a tensor of a module that is computed from others whenever it is read, by modules of
 * PyTorch's own (`parametrizations.weight_norm`, `spectral_norm`) or of the user's (torch/nn/utils/parametrize.py).
 */
import type { Span } from "../../../python/tree";
import { Tensor } from "../../tensor";
import { isUnknown } from "../../unknown";
import { CallArguments } from "../arguments";
import { findAttribute } from "../attributes";
import { runOperator } from "../bridge";
import { instantiate } from "../classes";
import type { Interpreter } from "../interpreter";
import {
  ClassValue,
  ListValue,
  NativeFunction,
  ObjectValue,
  TupleValue,
  type Native,
  type Value,
} from "../values";
import { attach, attached, detachAttribute } from "./attach";
import {
  addPowerVectors,
  magnitudeShape,
  newParameter,
  normDimension,
  notFollowed,
  spectralOptions,
  weightOf,
} from "./reparametrized";
import { reduceToNorm, runPowerMethod, spectralMatrix, type SpectralOptions } from "./spectral";
import { ModuleState } from "./state";

const listPath = "torch.nn.ModuleList";
const dictPath = "torch.nn.ModuleDict";

/** A container of PyTorch's, empty. */
function emptyContainer(interpreter: Interpreter, path: string, span: Span | undefined): ObjectValue {
  const type = interpreter.library.classOf(path);
  const made = type === undefined ? null : instantiate(interpreter, type, new CallArguments([]), span);
  if (made instanceof ObjectValue) return made;
  throw new Error(`${path} is missing`);
}

function namesOf(originals: readonly Tensor[] | Tensor): readonly (readonly [string, Tensor])[] {
  if (originals instanceof Tensor) return [["original", originals]];
  return originals.map((tensor, i) => [`original${i}`, tensor] as const);
}

/** Puts a parametrization on a tensor; further ones on the same tensor are applied behind it. */
function parametrize(
  interpreter: Interpreter,
  object: ObjectValue,
  name: string,
  originals: readonly Tensor[] | Tensor,
  parametrization: ObjectValue,
  span: Span | undefined,
): void {
  const state = object.module;
  if (state === undefined) return;
  const known = state.parametrized.get(name);
  if (known !== undefined) {
    attach(interpreter, known, "modules", String(known.module?.modules.size ?? 0), parametrization);
    return;
  }
  const table = state.buffers.has(name) ? "buffers" : "parameters";
  for (const [, tensor] of namesOf(originals)) interpreter.references.keep(tensor);
  const list = emptyContainer(interpreter, listPath, span);
  attach(interpreter, list, "modules", "0", parametrization);
  for (const [part, tensor] of namesOf(originals)) attach(interpreter, list, table, part, tensor);
  let all = state.modules.get("parametrizations") ?? null;
  if (all === null) {
    all = emptyContainer(interpreter, dictPath, span);
    attach(interpreter, object, "modules", "parametrizations", all);
  }
  attach(interpreter, all, "modules", name, list);
  detachAttribute(interpreter, object, name);
  state.parametrized.set(name, list);
}

/** The value of a parametrized tensor: computed at every reading; undefined when the name is not parametrized. */
export function readParametrized(
  interpreter: Interpreter,
  object: ObjectValue,
  name: string,
  span: Span | undefined,
): Value | undefined {
  const list = object.module?.parametrized.get(name);
  if (list?.module === undefined) return undefined;
  const { module } = list;
  let given: Value[] = [...module.parameters.values(), ...module.buffers.values()];
  for (const parametrization of module.modules.values()) {
    given = [interpreter.call(parametrization, new CallArguments(given), span)];
  }
  return given[0] ?? null;
}

/** `register_parametrization(module, tensor_name, parametrization)`. */
const register: Native = (interpreter, args, span) => {
  const [object, name] = [args.at(0), args.or(1, "tensor_name", null)];
  const given = args.or(2, "parametrization", null);
  const isKnown = object instanceof ObjectValue && typeof name === "string";
  if (!isKnown || !(given instanceof ObjectValue) || given.module === undefined)
    return notFollowed(interpreter, args, "register_parametrization", span);
  if (object.module?.parametrized.has(name) === true) {
    parametrize(interpreter, object, name, [], given, span);
    return object;
  }
  const original = attached(object, name);
  if (!(original instanceof Tensor)) return notFollowed(interpreter, args, "register_parametrization", span);
  const originals = inverse(interpreter, given, original, span);
  if (originals === undefined) return notFollowed(interpreter, args, "register_parametrization", span);
  parametrize(interpreter, object, name, originals, given, span);
  return object;
};

/** What `right_inverse` makes of the tensor; the tensor itself takes the value of a single one. */
function inverse(
  interpreter: Interpreter,
  parametrization: ObjectValue,
  original: Tensor,
  span: Span | undefined,
): readonly Tensor[] | Tensor | undefined {
  const callee = findAttribute(interpreter, parametrization, "right_inverse", span);
  if (callee === undefined) return original;
  const { execution } = interpreter;
  execution.pushGradMode(false);
  const made = interpreter.call(callee, new CallArguments([original]), span);
  execution.popGradMode();
  if (made instanceof Tensor) {
    if (made !== original) execution.setData(original, made);
    return original;
  }
  const parts = made instanceof TupleValue || made instanceof ListValue ? made.items : undefined;
  if (parts?.every((part) => part instanceof Tensor) !== true) return undefined;
  return parts.map((part) => {
    const own = execution.parameterFrom(part, original.requiresGrad);
    interpreter.parameterTensors.add(own);
    return interpreter.references.own(own);
  });
}

/** A module of PyTorch's own whose forward is known here. */
function nativeModule(
  interpreter: Interpreter,
  name: string,
  forward: (interpreter: Interpreter, object: ObjectValue, given: readonly Value[]) => Value,
): ObjectValue {
  const type = new ClassValue(name, [interpreter.library.moduleClass]);
  type.attributes.set(
    "forward",
    new NativeFunction("forward", (inner, args) => {
      const [object, ...given] = args.positional;
      if (!(object instanceof ObjectValue)) return null;
      const mark = inner.references.mark();
      const result = forward(inner, object, given);
      inner.references.settle(mark, result);
      return result;
    }),
  );
  const object = new ObjectValue(type);
  object.module = new ModuleState();
  return interpreter.references.keep(object);
}

/** `torch.nn.utils.parametrizations.weight_norm`. */
const weightNorm: Native = (interpreter, args, span) => {
  const target = weightOf(args);
  if (target === undefined) return notFollowed(interpreter, args, "weight_norm", span);
  const { object, name, weight } = target;
  const dim = normDimension(args);
  const norm = nativeModule(interpreter, "_WeightNorm", (inner, _, [g, v]) =>
    runOperator(inner, "torch._weight_norm", new CallArguments([v ?? null, g ?? null, dim])),
  );
  const magnitude = newParameter(interpreter, magnitudeShape(weight, dim), weight);
  parametrize(interpreter, object, name, [magnitude, weight], norm, span);
  return object;
};

/** `torch.nn.utils.parametrizations.spectral_norm`: one vector is only divided by its norm. */
const spectralNorm: Native = (interpreter, args, span) => {
  const target = weightOf(args);
  if (target === undefined) return notFollowed(interpreter, args, "spectral_norm", span);
  const { object, name, weight } = target;
  const options = spectralOptions(object, args);
  const norm = nativeModule(interpreter, "_SpectralNorm", (inner, self, [original]) =>
    weight.shape.length === 1
      ? runOperator(
          inner,
          "torch.nn.functional.normalize",
          new CallArguments([original ?? null], new Map<string, Value>([["dim", 0]])),
        )
      : spectral(inner, self, original ?? null, options),
  );
  if (weight.shape.length > 1) addPowerVectors(interpreter, norm, weight, options.dim);
  parametrize(interpreter, object, name, weight, norm, span);
  return object;
};

function spectral(
  interpreter: Interpreter,
  self: ObjectValue,
  original: Value,
  options: SpectralOptions,
): Value {
  const state = self.module;
  const [u, v] = [state?.buffers.get("_u") ?? null, state?.buffers.get("_v") ?? null];
  const matrix = spectralMatrix(interpreter, original, options.dim, "flatten");
  if (state?.training === true) runPowerMethod(interpreter, matrix, { u, v, first: "u" }, options);
  const [left, right] = [u, v].map((vector) =>
    runOperator(interpreter, "Tensor.clone", new CallArguments([vector])),
  );
  return reduceToNorm(interpreter, original, matrix, { u: left ?? null, v: right ?? null }, "torch.vdot");
}

const isParametrized: Native = (_, args) => {
  const [object, name] = [args.at(0), args.or(1, "tensor_name", null)];
  if (!(object instanceof ObjectValue)) return args.unknown() ?? false;
  const names = object.module?.parametrized;
  return typeof name === "string" ? names?.has(name) === true : (names?.size ?? 0) > 0;
};

/** `remove_parametrizations`: the tensor is an ordinary parameter again. */
const remove: Native = (interpreter, args, span) => {
  const [object, name] = [args.at(0), args.or(1, "tensor_name", null)];
  if (!(object instanceof ObjectValue) || object.module === undefined || typeof name !== "string")
    return notFollowed(interpreter, args, "remove_parametrizations", span);
  const { module } = object;
  const list = module.parametrized.get(name)?.module;
  const value = readParametrized(interpreter, object, name, span);
  if (list === undefined || value === undefined || isUnknown(value)) return object;
  const table = list.buffers.has("original") ? "buffers" : "parameters";
  const like = list[table].get("original") ?? list.parameters.get("original0");
  if (!(value instanceof Tensor) || !(like instanceof Tensor)) return object;
  const plain = list[table].get("original") ?? newParameter(interpreter, value.shape, like);
  interpreter.references.keep(plain);
  module.parametrized.delete(name);
  attach(interpreter, object, table, name, plain);
  const all = module.modules.get("parametrizations");
  if (all instanceof ObjectValue) detachAttribute(interpreter, all, name);
  if (module.parametrized.size === 0) detachAttribute(interpreter, object, "parametrizations");
  return object;
};

export const parametrizeFunctions: Readonly<Record<string, Native>> = {
  "torch.nn.utils.parametrizations.weight_norm": weightNorm,
  "torch.nn.utils.parametrizations.spectral_norm": spectralNorm,
  "torch.nn.utils.parametrize.register_parametrization": register,
  "torch.nn.utils.parametrize.is_parametrized": isParametrized,
  "torch.nn.utils.parametrize.remove_parametrizations": remove,
};
