/**
 * What the distributions of `torch.distributions` share: the computations they are written in, the shapes of what they draw,
 * and the validation of their arguments. Sources: torch/distributions/{distribution,constraints,utils}.py.
 */
import { unknownReasons } from "../../../messages/estimate";
import { message } from "../../../messages/message";
import type { Span } from "../../../python/tree";
import { Tensor } from "../../tensor";
import { isUnknown, Unknown } from "../../unknown";
import type { CallArguments } from "../arguments";
import { findAttribute, storeAttribute } from "../attributes";
import { callOperator } from "../bridge";
import type { Interpreter } from "../interpreter";
import { itemsOf } from "../iteration";
import { integer } from "../numbers";
import {
  ClassValue,
  DtypeValue,
  Float,
  MethodWrapper,
  NativeFunction,
  ObjectValue,
  PropertyValue,
  TupleValue,
  type Native,
  type Value,
} from "../values";

/** An operator on operands, which may be computed themselves: from left to right, as Python does. */
export class Computation {
  constructor(
    readonly operator: string,
    readonly operands: readonly Operand[],
  ) {}
}

export type Operand = Value | Computation;

/** `op("__add__", a, b)`: a tensor's method; other operators by their full name. */
export function op(name: string, ...operands: readonly Operand[]): Computation {
  return new Computation(name.includes(".") ? name : `Tensor.${name}`, operands);
}

/** What a computation gives. Each operator lets go of the intermediate results that it was given. */
export function compute(interpreter: Interpreter, operand: Operand): Value {
  if (!(operand instanceof Computation)) return operand;
  const { references } = interpreter;
  const mark = references.mark();
  const given = operand.operands.map((each) => compute(interpreter, each));
  const unknown = given.find(isUnknown);
  const result = unknown ?? callOperator(interpreter, operand.operator, given);
  references.settle(mark, result);
  return result;
}

/** A method's own temporaries go when it returns, as local variables do. */
export function locally(run: Native): Native {
  return (interpreter, args, span) => {
    const mark = interpreter.references.mark();
    const result = run(interpreter, args, span);
    interpreter.references.settle(mark, result);
    return result;
  };
}

/** A method: the object it is called on, and the arguments after that. */
export type Method = (
  interpreter: Interpreter,
  self: ObjectValue,
  args: CallArguments,
  span: Span | undefined,
) => Value;

function nativeOf(method: Method): Native {
  return locally((interpreter, args, span) => {
    const self = args.at(0);
    if (!(self instanceof ObjectValue)) return args.unknown() ?? null;
    return args.unknownKeywords ?? method(interpreter, self, args.withoutFirst(), span);
  });
}

/** How a distribution is defined; attributes that are not listed are not known. */
export interface Definition {
  /** Parameters are attributes of the object from then on. */
  readonly init: Method;
  readonly methods: Readonly<Record<string, Method>>;
  readonly properties: Readonly<Record<string, Method>>;
  /** Computed when first asked for, with gradients whatever the mode (`lazy_property`), and kept. */
  readonly lazy?: Readonly<Record<string, Method>>;
}

/** What distributions have that those here do not all follow. */
const notFollowed = "sample rsample log_prob entropy cdf icdf expand enumerate_support perplexity".split(" ");

/** `Distribution`: the flag that says whether arguments are validated, and what its kinds may lack. */
export function distributionBase(): ClassValue {
  const type = new ClassValue("Distribution", []);
  for (const name of notFollowed) {
    const missing: Method = (interpreter, self, _, span) =>
      interpreter.note(interpreter.unknown("call", span, { name: `${self.type.name}.${name}` }));
    type.attributes.set(name, new NativeFunction(name, nativeOf(missing)));
  }
  type.attributes.set("_validate_args", true);
  type.attributes.set(
    "set_default_validate_args",
    new MethodWrapper(
      "static",
      new NativeFunction("set_default_validate_args", (_, args) => {
        type.attributes.set("_validate_args", args.at(0) ?? null);
        return null;
      }),
    ),
  );
  type.unknownBase = new Unknown(
    message(unknownReasons.base, { name: "torch.distributions.Distribution" }),
    undefined,
  );
  return type;
}

/** A class of its own for each interpreter, as scripts set attributes of it. */
export function distributionClass(name: string, base: ClassValue, definition: Definition): ClassValue {
  const type = new ClassValue(name, [base]);
  const native = (key: string, method: Method): NativeFunction => new NativeFunction(key, nativeOf(method));
  type.attributes.set("__init__", native("__init__", definition.init));
  for (const [key, method] of Object.entries({ ...common, ...definition.methods }))
    type.attributes.set(key, native(key, method));
  for (const [key, method] of Object.entries({ ...commonProperties, ...definition.properties }))
    type.attributes.set(key, new PropertyValue(native(key, method)));
  for (const [key, method] of Object.entries(definition.lazy ?? {}))
    type.attributes.set(key, new PropertyValue(native(key, withGradients(method)), null, true));
  return type;
}

function withGradients(method: Method): Method {
  return (interpreter, ...given) => {
    interpreter.execution.pushGradMode(true);
    try {
      return method(interpreter, ...given);
    } finally {
      interpreter.execution.popGradMode();
    }
  };
}

/** What a computation gives where no gradient is recorded. */
export function withoutGradients(interpreter: Interpreter, operand: () => Operand): Value {
  interpreter.execution.pushGradMode(false);
  try {
    return compute(interpreter, operand());
  } finally {
    interpreter.execution.popGradMode();
  }
}

/** An attribute of a distribution; what is computed when it is asked for is computed now. */
export function part(interpreter: Interpreter, self: ObjectValue, name: string, span?: Span): Value {
  return (
    findAttribute(interpreter, self, name, span) ??
    interpreter.unknown("attribute", span, { name, type: self.type.name })
  );
}

export function setPart(interpreter: Interpreter, self: ObjectValue, name: string, value: Value): void {
  storeAttribute(interpreter, self, name, value);
}

/** The sizes that an attribute such as `_batch_shape` has. */
export function sizesIn(interpreter: Interpreter, self: ObjectValue, name: string): readonly Value[] {
  const shape = part(interpreter, self, name);
  return shape instanceof TupleValue ? shape.items : [];
}

export function sizeValue(sizes: readonly Value[]): TupleValue {
  return new TupleValue(sizes, undefined, true);
}

/** Sets the shapes of a batch and of one event. */
export function setShapes(
  interpreter: Interpreter,
  self: ObjectValue,
  batch: readonly Value[],
  event: readonly Value[] = [],
): void {
  setPart(interpreter, self, "_batch_shape", sizeValue(batch));
  setPart(interpreter, self, "_event_shape", sizeValue(event));
}

/** The shape of what is drawn: `sample_shape`, then the batch's, then the event's. */
export function extendedShape(
  interpreter: Interpreter,
  self: ObjectValue,
  args: CallArguments,
  span: Span | undefined,
): { readonly sample: readonly Value[]; readonly shape: TupleValue } | Unknown {
  const sample = itemsOf(interpreter, args.or(0, "sample_shape", new TupleValue([])), span);
  if (isUnknown(sample)) return interpreter.note(sample);
  const unknown = sample.find(isUnknown);
  if (unknown !== undefined) return interpreter.note(unknown);
  const own = [...sizesIn(interpreter, self, "_batch_shape"), ...sizesIn(interpreter, self, "_event_shape")];
  return { sample, shape: sizeValue([...sample, ...own]) };
}

/** The product of sizes; undefined where one is not a whole number. */
export function productOf(sizes: readonly Value[]): number | undefined {
  let product = 1;
  for (const size of sizes) {
    const one = integer(size);
    if (one === undefined) return undefined;
    product *= one;
  }
  return product;
}

const common: Readonly<Record<string, Method>> = {
  perplexity: (interpreter, self, args, span) => {
    const entropy = interpreter.call(part(interpreter, self, "entropy"), args, span);
    return compute(interpreter, op("torch.exp", entropy));
  },
};

const commonProperties: Readonly<Record<string, Method>> = {
  batch_shape: (interpreter, self) => part(interpreter, self, "_batch_shape"),
  event_shape: (interpreter, self) => part(interpreter, self, "_event_shape"),
  stddev: (interpreter, self, _, span) =>
    compute(interpreter, op("sqrt", part(interpreter, self, "variance", span))),
};

/** `broadcast_all`: views of one shape; numbers become tensors like the first one that is given. */
export function broadcastAll(interpreter: Interpreter, given: readonly Value[]): readonly Value[] {
  const { references } = interpreter;
  const like = given.find((value) => value instanceof Tensor);
  const options = new DtypeValue(like instanceof Tensor ? like.dtype : "float32");
  const tensors = given.map((value) => (isNumber(value) ? numberTensor(interpreter, value, options) : value));
  const unknown = tensors.find(isUnknown);
  if (unknown !== undefined) return given.map(() => unknown);
  const views = callOperator(interpreter, "torch.broadcast_tensors", tensors);
  if (views instanceof TupleValue) return views.items;
  references.keep(views);
  return given.map(() => views);
}

export function isNumber(value: Value): boolean {
  return typeof value === "number" || typeof value === "boolean" || value instanceof Float;
}

function numberTensor(interpreter: Interpreter, value: Value, dtype: DtypeValue): Value {
  const made = callOperator(interpreter, "torch.tensor", [value]);
  return compute(interpreter, op("to", made, dtype));
}

// --- Validation -----------------------------------------------------------------------------------------------------

/** What is computed to see whether values lie in a set. */
export type Constraint = (value: Value) => Computation;

export const real: Constraint = (value) => op("__eq__", value, value);
export const positive: Constraint = (value) => op("__gt__", value, 0);
export const unitInterval: Constraint = (value) =>
  op("__and__", op("__ge__", value, 0), op("__le__", value, 1));
export const zeroOrOne: Constraint = (value) => op("__or__", op("__eq__", value, 0), op("__eq__", value, 1));
export const simplex: Constraint = (value) =>
  op(
    "__and__",
    op("torch.all", op("__ge__", value, 0), -1),
    op("__lt__", op("abs", op("__sub__", op("sum", value, -1), 1)), new Float(1e-6)),
  );

/** All of the last dimension are numbers: the comparison is seen as rows of its own. */
export const realVector: Constraint = (value) => op("all", real(value), -1);

/** Whole numbers from 0 up to, and without, `count`. */
export function indexBelow(count: number): Constraint {
  return (value) => {
    const isWhole = op("__eq__", op("__mod__", value, 1), 0);
    return op("__and__", op("__and__", isWhole, op("__ge__", value, 0)), op("__le__", value, count - 1));
  };
}

/** `validate_args` of a constructor: the object's own from then on. */
export function setValidation(interpreter: Interpreter, self: ObjectValue, given: Value): void {
  if (given !== null) setPart(interpreter, self, "_validate_args", given);
}

function validates(interpreter: Interpreter, self: ObjectValue): boolean {
  return part(interpreter, self, "_validate_args") !== false;
}

/** Computes whether parameters lie in their sets, one after the other: each answer waits for the next one. */
export function validate(
  interpreter: Interpreter,
  self: ObjectValue,
  checks: readonly (readonly [value: Value, constraint: Constraint])[],
): void {
  if (!validates(interpreter, self)) return;
  const { references } = interpreter;
  const mark = references.mark();
  let answer: Value = null;
  for (const [value, constraint] of checks) {
    if (!(value instanceof Tensor)) continue;
    const next = compute(interpreter, constraint(value));
    references.settle(mark, (answer = next));
    compute(interpreter, op("all", answer));
  }
  references.releaseTo(mark);
}
