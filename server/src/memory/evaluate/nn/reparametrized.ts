/** `weight_norm` and `spectral_norm`: the parameters and buffers they put in a weight's place. */
import { elementCount, Tensor } from "../../tensor";
import type { Interpreter } from "../interpreter";
import { ObjectValue, type Native, type Value } from "../values";
import { attach, detachAttribute } from "./attach";

/**
 * Takes a parameter away and puts what computes it in its place. The weight itself is computed in every forward by a hook:
 * what that costs is not followed, and a step says so.
 */
function reparametrize(
  put: (interpreter: Interpreter, object: ObjectValue, name: string, weight: Tensor, dim: number) => void,
): Native {
  return (interpreter, args, span) => {
    const object = args.at(0) ?? null;
    const name = args.or(1, "name", "weight");
    const dim = args.keywords.get("dim") ?? 0;
    const weight =
      object instanceof ObjectValue && typeof name === "string"
        ? object.module?.parameters.get(name)
        : undefined;
    if (
      !(object instanceof ObjectValue) ||
      object.module === undefined ||
      !(weight instanceof Tensor) ||
      typeof name !== "string"
    ) {
      return args.unknown() ?? interpreter.note(interpreter.unknown("call", span, { name: "weight_norm" }));
    }
    interpreter.references.keep(weight);
    detachAttribute(interpreter, object, name);
    put(interpreter, object, name, weight, typeof dim === "number" ? dim : 0);
    setPlain(interpreter, object, name, weight);
    object.module.hooked = true;
    return object;
  };
}

/** The weight stays readable as a plain attribute. */
function setPlain(interpreter: Interpreter, object: ObjectValue, name: string, value: Value): void {
  interpreter.references.adopt(object, value);
  object.attributes.set(name, value);
}

function newParameter(interpreter: Interpreter, shape: readonly number[], like: Tensor): Tensor {
  const made = interpreter.references.own(
    interpreter.execution.parameter(shape, like.dtype, like.requiresGrad),
  );
  interpreter.parameterTensors.add(made);
  return made;
}

/** A magnitude along one dimension and a direction of the weight's shape. */
export const weightNorm: Native = reparametrize((interpreter, object, name, weight, dim) => {
  const shape = weight.shape.map((size, i) => (i === dim ? size : 1));
  attach(interpreter, object, "parameters", `${name}_g`, newParameter(interpreter, shape, weight));
  attach(interpreter, object, "parameters", `${name}_v`, newParameter(interpreter, weight.shape, weight));
});

/** The weight as it was, and the two vectors of the power iteration as buffers. */
export const spectralNorm: Native = reparametrize((interpreter, object, name, weight) => {
  const [rows = 1] = weight.shape;
  const columns = elementCount(weight.shape) / Math.max(1, rows);
  attach(interpreter, object, "parameters", `${name}_orig`, newParameter(interpreter, weight.shape, weight));
  for (const [suffix, size] of [
    ["u", rows],
    ["v", columns],
  ] as const) {
    const buffer = interpreter.references.own(interpreter.execution.buffer([size], weight.dtype));
    attach(interpreter, object, "buffers", `${name}_${suffix}`, buffer);
  }
});

/** Undoes either of them. */
export const plainWeight: Native = (interpreter, args) => {
  const object = args.at(0) ?? null;
  const name = args.or(1, "name", "weight");
  if (!(object instanceof ObjectValue) || object.module === undefined || typeof name !== "string")
    return object;
  const weight = object.attributes.get(name);
  if (!(weight instanceof Tensor)) return object;
  interpreter.references.keep(weight);
  for (const suffix of ["g", "v", "orig", "u"]) detachAttribute(interpreter, object, `${name}_${suffix}`);
  attach(interpreter, object, "parameters", name, weight);
  object.module.hooked = false;
  return object;
};
