/**
 * Models whose weights bitsandbytes quantises while they are loaded. Source: transformers/integrations/bitsandbytes.py
 * (`replace_with_bnb_linear`), quantizers/base.py (`get_modules_to_not_convert`), bitsandbytes/nn/modules.py.
 */
import type { Span } from "../../../python/tree";
import { elementCount } from "../../tensor";
import { isUnknown } from "../../unknown";
import type { CallArguments } from "../arguments";
import type { Interpreter } from "../interpreter";
import { attach } from "../nn/attach";
import { namedModules, tensorsOf } from "../nn/state";
import { ClassValue, NativeFunction, ObjectValue, type Native, type Value } from "../values";
import { libraryClass, libraryObject } from "./library-class";

const configuration = libraryClass("BitsAndBytesConfig", {});

export const makeQuantisation: Native = (interpreter, args) =>
  args.unknownKeywords ??
  libraryObject(interpreter, configuration, {
    load_in_8bit: args.or(0, "load_in_8bit", false),
    load_in_4bit: args.or(1, "load_in_4bit", false),
    skipped: args.keywords.get("llm_int8_skip_modules") ?? null,
  });

/** Elements that one byte holds. */
function packing(interpreter: Interpreter, args: CallArguments, span: Span | undefined): number | Value {
  const given = args.keywords.get("quantization_config") ?? null;
  if (isUnknown(given)) return given;
  if (given !== null && !(given instanceof ObjectValue && given.type === configuration))
    return interpreter.unknown("call", span, { name: "quantization_config" });
  const asked = (name: string): Value =>
    (given instanceof ObjectValue ? given.attributes.get(name) : args.keywords.get(name)) ?? false;
  if (given instanceof ObjectValue && given.attributes.get("skipped") !== null)
    return interpreter.unknown("call", span, { name: "llm_int8_skip_modules" });
  const unknown = [asked("load_in_4bit"), asked("load_in_8bit")].find((value) => isUnknown(value));
  if (unknown !== undefined) return unknown;
  if (asked("load_in_4bit") === true) return 2;
  return asked("load_in_8bit") === true ? 1 : 0;
}

/**
 * Replaces the weights of linear layers, the output's left out, by frozen bytes, where the call asks for it. Scales and
 * statistics of the blocks come on top and are not counted: the answer is a lower bound from then on.
 */
export function quantise(
  interpreter: Interpreter,
  model: ObjectValue,
  args: CallArguments,
  span: Span | undefined,
): void {
  const elementsAByte = packing(interpreter, args, span);
  if (elementsAByte === 0) return;
  if (typeof elementsAByte !== "number") {
    if (isUnknown(elementsAByte))
      model.module?.unknownParts.set("quantization", interpreter.note(elementsAByte));
    return;
  }
  for (const tensor of tensorsOf(model, "parameters")) tensor.requiresGrad = false;
  const tied = new Set(tiedWeights(model));
  const linears = namedModules(model).filter(({ module }) => module.type.path === "torch.nn.Linear");
  const last = linears.at(-1)?.path;
  for (const { path, module } of linears) {
    const weight = module.module?.parameters.get("weight");
    if (weight === undefined || weight === null || path === last || tied.has(weight)) continue;
    const bytes = Math.ceil(elementCount(weight.shape) / elementsAByte);
    const packed = interpreter.execution.parameter([bytes, 1], "uint8", false);
    interpreter.parameterTensors.add(packed);
    attach(interpreter, module, "parameters", "weight", interpreter.references.own(packed));
    module.type = quantisedType(module.type);
  }
  const missing = interpreter.unknown("quantised", span);
  model.module?.unknownParts.set("quantization", interpreter.note(missing));
}

/** Weights that more than one module has. */
function tiedWeights(model: ObjectValue): unknown[] {
  const weights = namedModules(model).map(({ module }) => module.module?.parameters.get("weight"));
  return weights.filter(
    (weight, i) => weight !== undefined && weight !== null && weights.indexOf(weight) !== i,
  );
}

/** A linear layer whose forward is not followed. */
function quantisedType(linear: ClassValue): ClassValue {
  const type = new ClassValue("QuantisedLinear", [linear]);
  type.attributes.set(
    "forward",
    new NativeFunction("forward", (interpreter, _, span) =>
      interpreter.note(interpreter.unknown("unsupported", span, { what: "QuantisedLinear.forward" })),
    ),
  );
  return type;
}
