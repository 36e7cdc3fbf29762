/**
 * Decorators of transformers' forwards, and what they do with arguments and results. Sources: transformers/utils/{generic,
 * output_capturing,deprecation}.py of 4.57 and 5.24.
 */
import type { Span } from "../../../python/tree";
import { isUnknown } from "../../unknown";
import { CallArguments } from "../arguments";
import { findAttribute, setAttribute } from "../attributes";
import type { Interpreter } from "../interpreter";
import { callMethod } from "../overloads";
import {
  FunctionValue,
  NativeFunction,
  ObjectValue,
  PropertyValue,
  type Native,
  type Value,
} from "../values";
import { isModelOutput } from "./model-outputs";

/** An attribute, or undefined where there is none or it cannot be told. */
export function known(interpreter: Interpreter, object: Value | undefined, name: string): Value | undefined {
  if (!(object instanceof ObjectValue)) return undefined;
  const own = object.attributes.get(name) ?? object.type.attribute(name);
  if (own !== undefined && !(own instanceof PropertyValue)) return own;
  const found = interpreter.guard(() => findAttribute(interpreter, object, name, undefined) ?? null);
  return found === null || isUnknown(found) ? undefined : found;
}

/** A decorator of a method: `around` gets the method, then what it is called with. */
function wrapping(around: (wrapped: Value, ...call: Parameters<Native>) => Value): Native {
  const wrap = (wrapped: Value): Value =>
    new NativeFunction(
      wrapped instanceof FunctionValue || wrapped instanceof NativeFunction ? wrapped.name : "forward",
      (interpreter, args, span) => around(wrapped, interpreter, args, span),
      [wrapped],
    );
  return (_, args) => {
    const [made] = args.positional;
    const isMethod = made instanceof FunctionValue || made instanceof NativeFunction;
    return isMethod && args.count === 1
      ? wrap(made)
      : new NativeFunction("decorator", (__, given) => wrap(given.at(0) ?? null));
  };
}

/** `return_dict` of a call, else of the model's configuration, else true; the call goes on without it. */
function asked(
  interpreter: Interpreter,
  args: CallArguments,
): { readonly wantsDict: boolean; readonly rest: CallArguments } {
  const configuration = known(interpreter, args.at(0), "config");
  const given = args.keywords.get("return_dict") ?? null;
  const said = given ?? known(interpreter, configuration, "return_dict") ?? true;
  const rest = new Map(args.keywords);
  rest.delete("return_dict");
  return {
    wantsDict: said !== false,
    rest: new CallArguments(args.positional, rest, args.unknownKeywords),
  };
}

function asTuple(interpreter: Interpreter, output: Value, span: Span | undefined): Value {
  return isModelOutput(output) ? (callMethod(interpreter, output, "to_tuple", [], span) ?? output) : output;
}

/** `@can_return_tuple`. */
const canReturnTuple = wrapping((wrapped, interpreter, args, span) => {
  const { wantsDict, rest } = asked(interpreter, args);
  const output = interpreter.call(wrapped, rest, span);
  return wantsDict ? output : asTuple(interpreter, output, span);
});

const captured = /^output_(hidden_states|attentions|router_logits|cross_attentions)$/;

/** `@capture_outputs`: what layers give is gathered only where it is asked for, which is not followed. */
const captureOutputs = wrapping((wrapped, interpreter, args, span) => {
  const { wantsDict, rest } = asked(interpreter, args);
  const configuration = known(interpreter, args.at(0), "config");
  const wanted = ["output_hidden_states", "output_attentions"].find(
    (name) =>
      ![undefined, null, false].includes(
        (rest.keywords.get(name) ?? known(interpreter, configuration, name)) as null,
      ),
  );
  if (wanted !== undefined) interpreter.note(interpreter.unknown("unsupported", span, { what: wanted }));
  const keywords = new Map([...rest.keywords].filter(([name]) => !captured.test(name)));
  const output = interpreter.call(
    wrapped,
    new CallArguments(rest.positional, keywords, rest.unknownKeywords),
    span,
  );
  return wantsDict ? output : asTuple(interpreter, output, span);
});

/** The position of a parameter among the positional arguments; undefined where it is not one. */
function positionOf(wrapped: Value, name: string): number | undefined {
  let inner = wrapped;
  while (inner instanceof NativeFunction && inner.holds[0] !== undefined) [inner] = inner.holds as [Value];
  if (!(inner instanceof FunctionValue)) return undefined;
  const index = inner.node.parameters.findIndex((parameter) => parameter.name.id === name);
  return index < 0 ? undefined : index;
}

function isCheckpointing(interpreter: Interpreter, model: Value | undefined): boolean {
  const isOn = known(interpreter, model, "gradient_checkpointing") === true;
  const isTraining = model instanceof ObjectValue && model.module?.training === true;
  return isOn && isTraining && interpreter.execution.gradEnabled;
}

/** `use_cache` where the call is silent: the configuration's, and none where layers are checkpointed. */
function withCacheChoice(interpreter: Interpreter, wrapped: Value, args: CallArguments): CallArguments {
  const name = "use_cache";
  const place = positionOf(wrapped, name);
  const isPositional = place !== undefined && args.positional.length > place;
  const given = (isPositional ? args.positional[place] : args.keywords.get(name)) ?? null;
  const chosen = given ?? known(interpreter, known(interpreter, args.at(0), "config"), name) ?? null;
  if (chosen === null) return args;
  const value = chosen === true && isCheckpointing(interpreter, args.at(0)) ? false : chosen;
  const positional = isPositional
    ? args.positional.map((one, index) => (index === place ? value : one))
    : args.positional;
  const keywords = isPositional ? args.keywords : new Map([...args.keywords, [name, value] as const]);
  return new CallArguments(positional, keywords, args.unknownKeywords);
}

/** `@merge_with_config_defaults`. */
const mergeWithDefaults = wrapping((wrapped, interpreter, args, span) => {
  const merged = withCacheChoice(interpreter, wrapped, args);
  const configuration = known(interpreter, args.at(0), "config");
  const isCausal = merged.keywords.get("is_causal") ?? known(interpreter, configuration, "is_causal") ?? null;
  if (isCausal === null || !(configuration instanceof ObjectValue))
    return interpreter.call(wrapped, merged, span);
  const before = configuration.attributes.get("is_causal");
  setAttribute(interpreter, configuration, "is_causal", isCausal, span);
  try {
    const keywords = new Map([...merged.keywords, ["is_causal", isCausal] as const]);
    return interpreter.call(
      wrapped,
      new CallArguments(merged.positional, keywords, merged.unknownKeywords),
      span,
    );
  } finally {
    if (before === undefined) configuration.attributes.delete("is_causal");
    else setAttribute(interpreter, configuration, "is_causal", before, span);
  }
});

/** `@check_model_inputs` of version 4: what became `merge_with_config_defaults` and `capture_outputs`. */
const checkModelInputs: Native = (interpreter, args, span) => {
  const [made] = args.positional;
  if (!(made instanceof FunctionValue || made instanceof NativeFunction))
    return new NativeFunction("decorator", checkModelInputs);
  const inner = captureOutputs(interpreter, args, span);
  return mergeWithDefaults(interpreter, new CallArguments([inner]), span);
};

/** `@deprecate_kwarg("old", version, new_name="new")`: an argument under its old name is handed on under the new one. */
const deprecateKeyword: Native = (interpreter, args, span) => {
  const [old, renamed] = [args.at(0), args.get(2, "new_name") ?? null];
  if (typeof old !== "string" || typeof renamed !== "string")
    return identityDecorator(interpreter, args, span);
  return new NativeFunction("decorator", (_, given) => {
    const wrapped = given.at(0) ?? null;
    if (!(wrapped instanceof FunctionValue || wrapped instanceof NativeFunction)) return wrapped;
    const run: Native = (inner, call, at) => {
      if (!call.keywords.has(old)) return inner.call(wrapped, call, at);
      const keywords = new Map(call.keywords);
      const value = keywords.get(old) ?? null;
      keywords.delete(old);
      if (value !== null || !keywords.has(renamed)) keywords.set(renamed, value);
      return inner.call(wrapped, new CallArguments(call.positional, keywords, call.unknownKeywords), at);
    };
    return new NativeFunction(wrapped.name, run, [wrapped]);
  });
};

const identityDecorator: Native = () => new NativeFunction("decorator", (_, given) => given.at(0) ?? null);

export const decoratorFunctions: Readonly<Record<string, Native>> = {
  "transformers.utils.can_return_tuple": canReturnTuple,
  "transformers.utils.generic.can_return_tuple": canReturnTuple,
  "transformers.utils.output_capturing.capture_outputs": captureOutputs,
  "transformers.utils.generic.merge_with_config_defaults": mergeWithDefaults,
  "transformers.utils.generic.check_model_inputs": checkModelInputs,
  "transformers.utils.deprecation.deprecate_kwarg": deprecateKeyword,
};
