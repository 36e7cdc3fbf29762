/** `object.name`, read, written and deleted. */
import type { Span } from "../../python/tree";
import { Tensor } from "../tensor";
import { isUnknown, type Unknown } from "../unknown";
import { CallArguments } from "./arguments";
import { beyondModel } from "./beyond";
import { doubtAttributes } from "./doubted";
import { dictOf, dictSet } from "./iteration";
import { methodOf } from "./builtins/methods";
import type { Interpreter } from "./interpreter";
import { attachAttribute, attached, detachAttribute } from "./nn/attach";
import { readParametrized } from "./nn/parametrize";
import { tensorAttribute } from "./nn/tensors";
import {
  BoundMethod,
  ClassValue,
  DeviceValue,
  DictValue,
  DtypeValue,
  FileModule,
  Float,
  FunctionValue,
  IteratorValue,
  LibraryName,
  ListValue,
  MethodWrapper,
  NativeFunction,
  ObjectValue,
  PartialValue,
  PropertyValue,
  RangeValue,
  SliceValue,
  SuperValue,
  TupleValue,
  type Value,
} from "./values";
import { dtypeBytes, isComplex, isFloating } from "../tensor";

/** The attribute's value; raises AttributeError where Python would, Unknown where only a library knows. */
export function getAttribute(
  interpreter: Interpreter,
  object: Value,
  name: string,
  span: Span | undefined,
): Value {
  const found = findAttribute(interpreter, object, name, span);
  if (found !== undefined) return found;
  const type = interpreter.typeName(object);
  if (object instanceof ObjectValue || object instanceof ClassValue || object instanceof SuperValue) {
    return interpreter.raise("AttributeError", `'${type}' object has no attribute '${name}'`, span);
  }
  return interpreter.unknown("attribute", span, { name, type });
}

/** As `getAttribute`, but undefined when there is none. */
export function findAttribute(
  interpreter: Interpreter,
  object: Value,
  name: string,
  span: Span | undefined,
): Value | undefined {
  if (isUnknown(object)) return object;
  if (object instanceof ObjectValue) return objectAttribute(interpreter, object, name, span);
  if (object instanceof Tensor) return tensorAttribute(interpreter, object, name, span);
  if (object instanceof ClassValue) return classAttribute(interpreter, object, name, span);
  if (object instanceof FileModule) return interpreter.files.member(object, name);
  if (object instanceof LibraryName) return interpreter.library.attribute(object.path, name);
  if (object instanceof SuperValue) return superAttribute(interpreter, object, name, span);
  if (object instanceof TupleValue && object.type !== undefined) {
    const field = namedField(interpreter, object, object.type, name);
    if (field !== undefined) return field;
  }
  return valueAttribute(object, name) ?? methodOf(object, name);
}

function namedField(
  interpreter: Interpreter,
  tuple: TupleValue,
  type: ClassValue,
  name: string,
): Value | undefined {
  const index = type.fields?.findIndex((field) => field.name === name) ?? -1;
  if (index >= 0) return tuple.items[index] ?? null;
  const own = type.attribute(name);
  return own === undefined ? undefined : bindAttribute(interpreter, own, tuple, type);
}

function valueAttribute(value: Value, name: string): Value | undefined {
  if (value instanceof FunctionValue) {
    const own = value.attributes.get(name);
    if (own !== undefined) return own;
    if (name === "__name__" || name === "__qualname__") return value.name;
    if (name === "__module__") return value.closure.root.moduleName;
    if (name === "__dict__") return dictOf(value.attributes);
    return name === "__doc__" ? null : undefined;
  }
  if (value instanceof NativeFunction && (name === "__name__" || name === "__qualname__")) return value.name;
  if (value instanceof BoundMethod) {
    if (name === "__self__") return value.receiver;
    if (name === "__func__") return value.method;
    return valueAttribute(value.method, name);
  }
  if (value instanceof PartialValue) {
    if (name === "func") return value.callee;
    if (name === "args") return new TupleValue(value.args.positional);
    if (name === "keywords") {
      const keywords = dictOf(value.args.keywords);
      keywords.tainted = value.args.unknownKeywords;
      return keywords;
    }
  }
  if (value instanceof DtypeValue) {
    if (name === "is_floating_point") return isFloating(value.dtype);
    if (name === "is_complex") return isComplex(value.dtype);
    if (name === "itemsize") return dtypeBytes[value.dtype];
  }
  if (value instanceof DeviceValue) {
    if (name === "type") return value.type;
    if (name === "index") return value.index;
  }
  if (value instanceof SliceValue) {
    if (name === "start") return value.lower;
    if (name === "stop") return value.upper;
    if (name === "step") return value.step;
  }
  if (value instanceof RangeValue && (name === "start" || name === "stop" || name === "step"))
    return value[name];
  if (value instanceof DictValue && name === "default_factory") return value.factory;
  if (value instanceof IteratorValue || value instanceof ListValue) return undefined;
  return undefined;
}

function objectAttribute(
  interpreter: Interpreter,
  object: ObjectValue,
  name: string,
  span: Span | undefined,
): Value | undefined {
  const { type } = object;
  if (name === "__class__") return type;
  if (name === "__module__") return "__main__";
  if (name === "__dict__") return interpreter.library.objectDict(object);
  const own = type.attribute(name);
  if (own instanceof PropertyValue) return readProperty(interpreter, own, object, name, span);
  const direct = object.attributes.get(name);
  if (direct !== undefined) return direct;
  const shared = object.namespace?.find(`s${name}`, name);
  if (shared !== undefined) return shared.value;
  if (own !== undefined) return bindAttribute(interpreter, own, object, type);
  const part = attached(object, name);
  if (part !== undefined) return part;
  const computed = readParametrized(interpreter, object, name, span);
  if (computed !== undefined) return computed;
  if (name === "training" && object.module !== undefined) return object.module.training;
  if (object.payload !== undefined) {
    const method = findAttribute(interpreter, object.payload, name, span);
    if (method !== undefined) return method;
  }
  if (object.namespace?.tainted !== undefined) return object.namespace.tainted;
  const dynamic = type.attribute("__getattr__");
  if (dynamic !== undefined) return interpreter.call(dynamic, new CallArguments([object, name]), span);
  // a layer whose constructor was not understood may have anything
  const parts = object.module?.unknownParts;
  return (
    parts?.get(name) ??
    parts?.get("__init__") ??
    unknownOf(interpreter, type, name, span) ??
    beyondModel(interpreter, type, name, span)
  );
}

/** What an attribute is that an unknown base may have; of a class of a library itself, that it is not modelled. */
function unknownOf(
  interpreter: Interpreter,
  type: ClassValue,
  name: string,
  span: Span | undefined,
): Unknown | undefined {
  const base = type.find((one) => one.unknownBase);
  if (base === undefined || type.node !== undefined) return base;
  return interpreter.unknown("attribute", span, { name, type: type.name });
}

function readProperty(
  interpreter: Interpreter,
  property: PropertyValue,
  object: ObjectValue,
  name: string,
  span: Span | undefined,
): Value {
  const cached = property.cached ? object.attributes.get(name) : undefined;
  if (cached !== undefined) return cached;
  const value = interpreter.call(property.getter, new CallArguments([object]), span);
  if (property.cached) {
    interpreter.references.adopt(object, value);
    object.attributes.set(name, value);
  }
  return value;
}

/** What a class attribute is when it is read through an instance. */
export function bindAttribute(
  interpreter: Interpreter,
  value: Value,
  receiver: Value,
  type: ClassValue,
): Value {
  if (value instanceof FunctionValue || value instanceof NativeFunction)
    return new BoundMethod(receiver, value);
  if (value instanceof MethodWrapper) return unwrap(value, type);
  if (value instanceof PropertyValue)
    return interpreter.call(value.getter, new CallArguments([receiver]), undefined);
  return value;
}

function unwrap(wrapper: MethodWrapper, type: ClassValue): Value {
  const { wrapped } = wrapper;
  if (wrapper.flavour === "static") return wrapped;
  if (wrapped instanceof FunctionValue || wrapped instanceof NativeFunction)
    return new BoundMethod(type, wrapped);
  return wrapped;
}

function classAttribute(
  interpreter: Interpreter,
  type: ClassValue,
  name: string,
  span: Span | undefined,
): Value | undefined {
  if (name === "__name__" || name === "__qualname__") return type.name;
  if (name === "__mro__") return new TupleValue(type.mro);
  if (name === "__bases__") return new TupleValue(type.bases);
  if (name === "__module__") return type.path === undefined ? "__main__" : "torch.nn";
  if (name === "__members__" && type.isEnum) return interpreter.library.enumMembers(type);
  const value = type.attribute(name);
  if (value instanceof MethodWrapper) return unwrap(value, type);
  if (value !== undefined) return value;
  return (
    type.find((one) => one.unknownBase) ??
    interpreter.library.classMember(type, name) ??
    beyondModel(interpreter, type, name, span)
  );
}

function superAttribute(
  interpreter: Interpreter,
  from: SuperValue,
  name: string,
  span: Span | undefined,
): Value | undefined {
  const { receiver } = from;
  const type = receiver instanceof ClassValue ? receiver : receiver.type;
  const rest = type.mro.slice(type.mro.indexOf(from.after) + 1);
  for (const one of rest) {
    const value = one.attributes.get(name);
    if (value !== undefined) return bindSuper(interpreter, value, receiver, type, span);
    if (one.unknownBase !== undefined) return one.unknownBase;
  }
  if (from.after.unknownBase !== undefined) return from.after.unknownBase;
  if (receiver instanceof ObjectValue && receiver.payload !== undefined) {
    const method = findAttribute(interpreter, receiver.payload, name, span);
    if (method !== undefined) return method;
  }
  return interpreter.library.objectMethod(receiver, name) ?? beyondModel(interpreter, type, name, span);
}

function bindSuper(
  interpreter: Interpreter,
  value: Value,
  receiver: ObjectValue | ClassValue,
  type: ClassValue,
  span: Span | undefined,
): Value {
  if (value instanceof PropertyValue)
    return interpreter.call(value.getter, new CallArguments([receiver]), span);
  if (receiver instanceof ClassValue && !(value instanceof MethodWrapper)) return value;
  return bindAttribute(interpreter, value, receiver, type);
}

export function setAttribute(
  interpreter: Interpreter,
  object: Value,
  name: string,
  value: Value,
  span: Span | undefined,
): void {
  if (object instanceof ObjectValue) {
    const property = object.type.attribute(name);
    if (property instanceof PropertyValue && property.setter !== null) {
      interpreter.call(property.setter, new CallArguments([object, value]), span);
      return;
    }
    const own = object.type.attribute("__setattr__");
    if (own instanceof FunctionValue) {
      interpreter.call(own, new CallArguments([object, name, value]), span);
      return;
    }
    storeAttribute(interpreter, object, name, value);
    return;
  }
  if (object instanceof FileModule) {
    object.frame.assign(interpreter.references, name, value);
    return;
  }
  if (object instanceof Tensor) {
    setTensorAttribute(interpreter, object, name, value);
    return;
  }
  if (object instanceof ClassValue || object instanceof FunctionValue) {
    const before = object.attributes.get(name);
    interpreter.references.adopt(object, value);
    object.attributes.set(name, value);
    if (before !== undefined) interpreter.references.disown(object, before);
  }
}

/** `object.__setattr__`: an instance attribute, or a part of a module. */
export function storeAttribute(
  interpreter: Interpreter,
  object: ObjectValue,
  name: string,
  value: Value,
): void {
  if (interpreter.tracing && object.module !== undefined) interpreter.wroteState = true;
  if (name === "training" && object.module !== undefined && typeof value === "boolean") {
    object.module.training = value;
    return;
  }
  // what is written goes into the tensors that it is computed from
  if (object.module?.parametrized.has(name) === true) return;
  if (attachAttribute(interpreter, object, name, value)) return;
  if (name === "__dict__") {
    shareNamespace(interpreter, object, value);
    return;
  }
  if (object.namespace !== undefined) {
    dictSet(interpreter, object.namespace, name, value);
    return;
  }
  const before = object.attributes.get(name);
  interpreter.references.adopt(object, value);
  object.attributes.set(name, value);
  if (before !== undefined) interpreter.references.disown(object, before);
}

/** `self.__dict__ = self` and `self.__dict__ = settings`. */
function shareNamespace(interpreter: Interpreter, object: ObjectValue, value: Value): void {
  if (isUnknown(value)) doubtAttributes(object, value);
  const dict = value instanceof ObjectValue ? value.payload : value;
  if (!(dict instanceof DictValue)) return;
  if (dict !== object.payload) interpreter.references.adopt(object, dict);
  object.namespace = dict;
}

/** Attributes of tensors that PyTorch itself lets one write. */
const writable = new Set(["requires_grad", "grad", "data"]);

/** What somebody has set on a tensor and may read again; of what could hold tensors nothing is known afterwards. */
function keepTensorAttribute(interpreter: Interpreter, tensor: Tensor, name: string, value: Value): void {
  const { tensorAttributes } = interpreter;
  const own = tensorAttributes.get(tensor) ?? new Map<string, Value>();
  tensorAttributes.set(tensor, own);
  const isPlain = value === null || typeof value !== "object" || value instanceof Float || isUnknown(value);
  if (isPlain) own.set(name, value);
  else own.delete(name);
}

function setTensorAttribute(interpreter: Interpreter, tensor: Tensor, name: string, value: Value): void {
  if (name === "requires_grad") {
    if (typeof value === "boolean") tensor.requiresGrad = value;
    else interpreter.note(interpreter.unknown("tensorValue", interpreter.callSpan));
  }
  if (name === "grad") setGradient(interpreter, tensor, value);
  if (!writable.has(name)) keepTensorAttribute(interpreter, tensor, name, value);
  if (name !== "data" || value === tensor) return;
  if (value instanceof Tensor) interpreter.execution.setData(tensor, value);
  else if (isUnknown(value)) interpreter.note(value);
}

/** `p.grad = None`, `p.grad = other`. */
function setGradient(interpreter: Interpreter, tensor: Tensor, value: Value): void {
  if (value === tensor.gradient) return;
  if (value instanceof Tensor) {
    interpreter.references.retain(value);
    interpreter.execution.changeKind(value.storage, "gradient");
  } else if (value !== null) {
    interpreter.note(isUnknown(value) ? value : interpreter.unknown("tensorValue", interpreter.callSpan));
    return;
  }
  interpreter.execution.zeroGradients([tensor]);
  tensor.gradient = value instanceof Tensor ? value : undefined;
}

export function deleteAttribute(
  interpreter: Interpreter,
  object: Value,
  name: string,
  span: Span | undefined,
): void {
  if (!(object instanceof ObjectValue)) return;
  if (detachAttribute(interpreter, object, name)) return;
  const before = object.attributes.get(name);
  if (before === undefined) {
    interpreter.raise("AttributeError", name, span);
    return;
  }
  object.attributes.delete(name);
  interpreter.references.disown(object, before);
}
