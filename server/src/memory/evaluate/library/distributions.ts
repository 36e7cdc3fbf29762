/**
 * `torch.distributions`: the same operators in the same order as PyTorch's classes run. Sources:
 * torch/distributions/{normal,categorical,bernoulli,independent}.py of PyTorch 2.13.
 */
import type { Span } from "../../../python/tree";
import { Tensor } from "../../tensor";
import { isUnknown, type Unknown } from "../../unknown";
import { CallArguments } from "../arguments";
import { getAttribute } from "../attributes";
import { callOperator, runOperator } from "../bridge";
import type { Interpreter } from "../interpreter";
import { dtypeLimits } from "./dtype-limits";
import {
  broadcastAll,
  compute,
  distributionBase,
  distributionClass,
  extendedShape,
  indexBelow,
  isNumber,
  op,
  part,
  positive,
  productOf,
  real,
  realVector,
  setPart,
  setShapes,
  setValidation,
  simplex,
  sizesIn,
  sizeValue,
  unitInterval,
  validate,
  withoutGradients,
  zeroOrOne,
  type Definition,
  type Method,
} from "./distribution-base";
import type { ClassValue } from "../values";
import { DtypeValue, ellipsis, Float, ObjectValue, SliceValue, TupleValue, type Value } from "../values";

/** The constructor's call is what a reason is about. */
function notUnderstood(
  interpreter: Interpreter,
  self: ObjectValue,
  values: readonly Value[],
  span: Span | undefined,
): Unknown {
  const name = `torch.distributions.${self.type.name}`;
  return values.find(isUnknown) ?? interpreter.unknown("call", span, { name });
}

/** What a probability is asked of: a tensor, or the reason why nothing is known. */
function sampleIn(
  interpreter: Interpreter,
  self: ObjectValue,
  args: CallArguments,
  span: Span | undefined,
): Tensor | Unknown {
  const value = args.or(0, "value", null);
  if (value instanceof Tensor) return value;
  return interpreter.note(notUnderstood(interpreter, self, [value], span));
}

const attribute =
  (name: string): Method =>
  (interpreter, self, _, span) =>
    part(interpreter, self, name, span);

// --- Normal ---------------------------------------------------------------------------------------------------------

const normal: Definition = {
  init: (interpreter, self, args, span) => {
    const given = [args.or(0, "loc", null), args.or(1, "scale", null)];
    if (!given.every((value) => value instanceof Tensor || isNumber(value)))
      return notUnderstood(interpreter, self, given, span);
    const [loc = null, scale = null] = broadcastAll(interpreter, given);
    if (!(loc instanceof Tensor)) return notUnderstood(interpreter, self, [loc], span);
    setPart(interpreter, self, "loc", loc);
    setPart(interpreter, self, "scale", scale);
    setShapes(interpreter, self, loc.shape);
    setValidation(interpreter, self, args.or(2, "validate_args", null));
    validate(interpreter, self, [
      [loc, real],
      [scale, positive],
    ]);
    return null;
  },
  methods: {
    sample: (interpreter, self, args, span) => {
      const drawn = extendedShape(interpreter, self, args, span);
      if (isUnknown(drawn)) return drawn;
      const wide = (name: string) => op("expand", part(interpreter, self, name), drawn.shape);
      return withoutGradients(interpreter, () => op("torch.normal", wide("loc"), wide("scale")));
    },
    rsample: (interpreter, self, args, span) => {
      const drawn = extendedShape(interpreter, self, args, span);
      if (isUnknown(drawn)) return drawn;
      const [loc, scale] = [part(interpreter, self, "loc"), part(interpreter, self, "scale")];
      const dtype = new DtypeValue(loc instanceof Tensor ? loc.dtype : "float32");
      const noise = runOperator(
        interpreter,
        "torch.randn",
        new CallArguments([drawn.shape], new Map<string, Value>([["dtype", dtype]])),
      );
      return compute(interpreter, op("__add__", loc, op("__mul__", noise, scale)));
    },
    log_prob: (interpreter, self, args, span) => {
      const value = sampleIn(interpreter, self, args, span);
      if (isUnknown(value)) return value;
      validate(interpreter, self, [[value, real]]);
      const [loc, scale] = [part(interpreter, self, "loc"), part(interpreter, self, "scale")];
      const variance = compute(interpreter, op("__pow__", scale, 2));
      const logarithm = compute(interpreter, op("log", scale));
      const squares = op("__neg__", op("__pow__", op("__sub__", value, loc), 2));
      const scaled = op("__truediv__", squares, op("__mul__", variance, 2));
      const constant = new Float(Math.log(Math.sqrt(2 * Math.PI)));
      return compute(interpreter, op("__sub__", op("__sub__", scaled, logarithm), constant));
    },
    cdf: (interpreter, self, args, span) => {
      const value = sampleIn(interpreter, self, args, span);
      if (isUnknown(value)) return value;
      validate(interpreter, self, [[value, real]]);
      const [loc, scale] = [part(interpreter, self, "loc"), part(interpreter, self, "scale")];
      const distance = op("__mul__", op("__sub__", value, loc), op("reciprocal", scale));
      const share = op("torch.erf", op("__truediv__", distance, new Float(Math.SQRT2)));
      return compute(interpreter, op("__mul__", op("__add__", share, 1), new Float(0.5)));
    },
    icdf: (interpreter, self, args, span) => {
      const value = sampleIn(interpreter, self, args, span);
      if (isUnknown(value)) return value;
      const distance = op("torch.erfinv", op("__sub__", op("__mul__", value, 2), 1));
      const scaled = op(
        "__mul__",
        op("__mul__", part(interpreter, self, "scale"), distance),
        new Float(Math.SQRT2),
      );
      return compute(interpreter, op("__add__", part(interpreter, self, "loc"), scaled));
    },
    entropy: (interpreter, self) => {
      const constant = new Float(0.5 + 0.5 * Math.log(2 * Math.PI));
      return compute(interpreter, op("__add__", op("torch.log", part(interpreter, self, "scale")), constant));
    },
  },
  properties: {
    mean: attribute("loc"),
    mode: attribute("loc"),
    stddev: attribute("scale"),
    variance: (interpreter, self) => compute(interpreter, op("pow", part(interpreter, self, "scale"), 2)),
  },
};

// --- Of probabilities or logits -------------------------------------------------------------------------------------

/** Exactly one of `probs` and `logits`. */
function givenOf(args: CallArguments): readonly ["probs" | "logits", Value] | undefined {
  const [probs, logits] = [args.or(0, "probs", null), args.or(1, "logits", null)];
  if ((probs === null) === (logits === null)) return undefined;
  return probs === null ? ["logits", logits] : ["probs", probs];
}

/** `clamp_probs`: into the open interval between 0 and 1. */
function clamped(interpreter: Interpreter, probs: Value): Value {
  const epsilon = dtypeLimits[probs instanceof Tensor ? probs.dtype : "float32"]?.eps ?? 0;
  return compute(interpreter, op("clamp", probs, new Float(epsilon), new Float(1 - epsilon)));
}

const categorical: Definition = {
  init: (interpreter, self, args, span) => {
    const [name, given] = givenOf(args) ?? ["probs", null];
    if (!(given instanceof Tensor) || given.shape.length === 0)
      return notUnderstood(interpreter, self, [given], span);
    const normalizer = name === "probs" ? op("sum", given, -1, true) : op("logsumexp", given, -1, true);
    const value = compute(interpreter, op(name === "probs" ? "__truediv__" : "__sub__", given, normalizer));
    if (!(value instanceof Tensor)) return notUnderstood(interpreter, self, [value], span);
    setPart(interpreter, self, name, value);
    setPart(interpreter, self, "_param", value);
    setPart(interpreter, self, "_num_events", value.shape.at(-1) ?? 1);
    setShapes(interpreter, self, value.shape.slice(0, -1));
    setValidation(interpreter, self, args.or(2, "validate_args", null));
    validate(interpreter, self, [[value, name === "probs" ? simplex : realVector]]);
    return null;
  },
  methods: {
    sample: (interpreter, self, args, span) => {
      const drawn = extendedShape(interpreter, self, args, span);
      if (isUnknown(drawn)) return drawn;
      const count = productOf(drawn.sample);
      if (count === undefined) return interpreter.note(notUnderstood(interpreter, self, drawn.sample, span));
      const events = part(interpreter, self, "_num_events");
      const rows = compute(
        interpreter,
        op("reshape", part(interpreter, self, "probs"), new TupleValue([-1, events])),
      );
      const samples = compute(interpreter, op("T", op("torch.multinomial", rows, count, true)));
      return compute(interpreter, op("reshape", samples, drawn.shape));
    },
    log_prob: (interpreter, self, args, span) => {
      const value = sampleIn(interpreter, self, args, span);
      if (isUnknown(value)) return value;
      validate(interpreter, self, [
        [value, indexBelow(productOf([part(interpreter, self, "_num_events")]) ?? 1)],
      ]);
      const index = compute(interpreter, op("unsqueeze", op("long", value), -1));
      const pair = callOperator(interpreter, "torch.broadcast_tensors", [
        index,
        part(interpreter, self, "logits"),
      ]);
      const [wide = null, logits = null] = pair instanceof TupleValue ? pair.items : [pair, pair];
      const first = new TupleValue([ellipsis, new SliceValue(null, 1, null)]);
      const chosen = compute(interpreter, op("__getitem__", wide, first));
      return compute(interpreter, op("squeeze", op("gather", logits, -1, chosen), -1));
    },
    entropy: (interpreter, self) => {
      const logits = part(interpreter, self, "logits");
      const least = dtypeLimits[logits instanceof Tensor ? logits.dtype : "float32"]?.min ?? 0;
      const bounded = compute(interpreter, op("torch.clamp", logits, new Float(least)));
      const products = compute(interpreter, op("__mul__", bounded, part(interpreter, self, "probs")));
      return compute(interpreter, op("__neg__", op("sum", products, -1)));
    },
  },
  properties: {
    mode: (interpreter, self) => compute(interpreter, op("argmax", part(interpreter, self, "probs"), -1)),
    param_shape: (interpreter, self) => {
      const parameter = part(interpreter, self, "_param");
      return parameter instanceof Tensor ? sizeValue(parameter.shape) : parameter;
    },
  },
  lazy: {
    probs: (interpreter, self) =>
      compute(interpreter, op("torch.nn.functional.softmax", part(interpreter, self, "logits"), -1)),
    logits: (interpreter, self) =>
      compute(interpreter, op("torch.log", clamped(interpreter, part(interpreter, self, "probs")))),
  },
};

/** `binary_cross_entropy_with_logits(…, reduction="none")`. */
function crossEntropy(interpreter: Interpreter, logits: Value, target: Value): Value {
  const reduction = new Map<string, Value>([["reduction", "none"]]);
  const name = "torch.nn.functional.binary_cross_entropy_with_logits";
  return runOperator(interpreter, name, new CallArguments([logits, target], reduction));
}

const bernoulli: Definition = {
  init: (interpreter, self, args, span) => {
    const [name, given] = givenOf(args) ?? ["probs", null];
    if (!(given instanceof Tensor) && !isNumber(given))
      return notUnderstood(interpreter, self, [given], span);
    const [value = null] = broadcastAll(interpreter, [given]);
    if (!(value instanceof Tensor)) return notUnderstood(interpreter, self, [value], span);
    setPart(interpreter, self, name, value);
    setPart(interpreter, self, "_param", value);
    setShapes(interpreter, self, value.shape);
    setValidation(interpreter, self, args.or(2, "validate_args", null));
    validate(interpreter, self, [[value, name === "probs" ? unitInterval : real]]);
    return null;
  },
  methods: {
    sample: (interpreter, self, args, span) => {
      const drawn = extendedShape(interpreter, self, args, span);
      if (isUnknown(drawn)) return drawn;
      return withoutGradients(interpreter, () =>
        op("torch.bernoulli", op("expand", part(interpreter, self, "probs"), drawn.shape)),
      );
    },
    log_prob: (interpreter, self, args, span) => {
      const given = sampleIn(interpreter, self, args, span);
      if (isUnknown(given)) return given;
      validate(interpreter, self, [[given, zeroOrOne]]);
      const [logits = null, value = null] = broadcastAll(interpreter, [
        part(interpreter, self, "logits"),
        given,
      ]);
      return compute(interpreter, op("__neg__", crossEntropy(interpreter, logits, value)));
    },
    entropy: (interpreter, self) => {
      const logits = part(interpreter, self, "logits");
      return crossEntropy(interpreter, logits, part(interpreter, self, "probs"));
    },
  },
  properties: {
    mean: attribute("probs"),
    param_shape: attribute("_batch_shape"),
    variance: (interpreter, self) => {
      const probs = part(interpreter, self, "probs");
      return compute(interpreter, op("__mul__", probs, op("__rsub__", probs, 1)));
    },
  },
  lazy: {
    probs: (interpreter, self) =>
      compute(interpreter, op("torch.sigmoid", part(interpreter, self, "logits"))),
    logits: (interpreter, self) => {
      const probs = clamped(interpreter, part(interpreter, self, "probs"));
      return compute(
        interpreter,
        op("__sub__", op("torch.log", probs), op("torch.log1p", op("__neg__", probs))),
      );
    },
  },
};

// --- Independent ----------------------------------------------------------------------------------------------------

/** `_sum_rightmost`: the sum over the last dimensions, seen as one. */
function sumOfLast(interpreter: Interpreter, value: Value, count: number): Value {
  if (count === 0 || !(value instanceof Tensor)) return value;
  const shape = new TupleValue([...value.shape.slice(0, value.shape.length - count), -1]);
  return compute(interpreter, op("sum", op("reshape", value, shape), -1));
}

/** How many dimensions of the batch are the event's. */
export function reinterpreted(interpreter: Interpreter, self: ObjectValue): number {
  return productOf([part(interpreter, self, "reinterpreted_batch_ndims")]) ?? 0;
}

export function sumOfEvents(interpreter: Interpreter, self: ObjectValue, value: Value): Value {
  return sumOfLast(interpreter, value, reinterpreted(interpreter, self));
}

/** What the inner distribution answers to the same call. */
function inner(name: string, sums: boolean): Method {
  return (interpreter, self, args, span) => {
    const method = getAttribute(interpreter, part(interpreter, self, "base_dist"), name, span);
    const value = interpreter.call(method, args, span);
    return sums ? sumOfEvents(interpreter, self, value) : value;
  };
}

function innerPart(name: string): Method {
  return (interpreter, self, _, span) =>
    getAttribute(interpreter, part(interpreter, self, "base_dist"), name, span);
}

const independent: Definition = {
  init: (interpreter, self, args, span) => {
    const base = args.or(0, "base_distribution", null);
    const dimensions = args.or(1, "reinterpreted_batch_ndims", null);
    const count = productOf([dimensions]);
    if (!(base instanceof ObjectValue) || count === undefined)
      return notUnderstood(interpreter, self, [base, dimensions], span);
    const event = sizesIn(interpreter, base, "_event_shape");
    const shape = [...sizesIn(interpreter, base, "_batch_shape"), ...event];
    const batch = shape.length - event.length - count;
    if (batch < 0) return notUnderstood(interpreter, self, [], span);
    setPart(interpreter, self, "base_dist", base);
    setPart(interpreter, self, "reinterpreted_batch_ndims", dimensions);
    setShapes(interpreter, self, shape.slice(0, batch), shape.slice(batch));
    return null;
  },
  methods: {
    sample: inner("sample", false),
    rsample: inner("rsample", false),
    log_prob: inner("log_prob", true),
    entropy: inner("entropy", true),
  },
  properties: { mean: innerPart("mean"), mode: innerPart("mode"), variance: innerPart("variance") },
};

const definitions: Readonly<Record<string, Definition>> = {
  Normal: normal,
  Categorical: categorical,
  Bernoulli: bernoulli,
  Independent: independent,
};

const prefix = "torch.distributions.";

/** The class at a path such as `torch.distributions.Normal`; `baseAt` gives the class that all of them derive from. */
export function distributionAt(
  path: string,
  baseAt: (path: string) => ClassValue | undefined,
): ClassValue | undefined {
  if (!path.startsWith(prefix)) return undefined;
  const name = path.slice(prefix.length);
  if (name === "Distribution") return distributionBase();
  const definition = Object.hasOwn(definitions, name) ? definitions[name] : undefined;
  const base = definition === undefined ? undefined : baseAt(`${prefix}Distribution`);
  if (definition === undefined || base === undefined) return undefined;
  return distributionClass(name, base, definition);
}
