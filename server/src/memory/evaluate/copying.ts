/** `copy.deepcopy` and `copy.copy`. */
import { Tensor } from "../tensor";
import { isUnknown } from "../unknown";
import type { Interpreter } from "./interpreter";
import { ModuleState } from "./nn/state";
import type { LazyMap } from "./lazy-map";
import { DictValue, ListValue, ObjectValue, SetValue, TupleValue, type Value } from "./values";

/** A deep copy: tensors are copied once each, so that ties inside the copied object stay ties. */
export function deepCopy(interpreter: Interpreter, value: Value): Value {
  const copier = new Copier(interpreter);
  return copier.copy(value, 0);
}

/** Objects nested deeper than this are not copied but shared. */
const deepest = 200;

class Copier {
  private readonly done = new Map<Value, Value>();

  constructor(private readonly interpreter: Interpreter) {}

  copy(value: Value, depth: number): Value {
    if (value === null || typeof value !== "object" || depth > deepest) return value;
    const known = this.done.get(value);
    if (known !== undefined) return known;
    this.interpreter.tick();
    if (value instanceof Tensor) return this.remember(value, this.copyTensor(value));
    if (value instanceof ListValue) {
      const list = this.remember(value, new ListValue([], value.most));
      for (const item of value.items) list.items.push(this.copy(item, depth + 1));
      return list;
    }
    if (value instanceof TupleValue) {
      const items = value.items.map((item) => this.copy(item, depth + 1));
      return this.remember(value, new TupleValue(items, value.type, value.isSize));
    }
    if (value instanceof DictValue) return this.copyDict(value, depth);
    if (value instanceof SetValue) {
      const set = this.remember(value, new SetValue(value.frozen));
      for (const [key, item] of value.entries) set.entries.set(key, item);
      return set;
    }
    return value instanceof ObjectValue ? this.copyObject(value, depth) : value;
  }

  private remember<Copied extends Value>(value: Value, copied: Copied): Copied {
    this.done.set(value, copied);
    return copied;
  }

  private copyDict(value: DictValue, depth: number): DictValue {
    const dict = this.remember(value, new DictValue());
    dict.factory = value.factory;
    dict.tainted = value.uncertain;
    for (const [key, entry] of value.entries) {
      dict.entries.set(key, { key: entry.key, value: this.copy(entry.value, depth + 1) });
    }
    return dict;
  }

  private copyTensor(tensor: Tensor): Tensor {
    const { interpreter } = this;
    const { execution, references } = interpreter;
    if (interpreter.parameterTensors.has(tensor)) {
      const copied = execution.parameter(tensor.shape, tensor.dtype, tensor.requiresGrad, tensor.name);
      interpreter.parameterTensors.add(copied);
      return references.own(copied);
    }
    const copied = execution.buffer(tensor.shape, tensor.dtype, tensor.name);
    copied.values = tensor.values;
    copied.bound = tensor.bound;
    return references.own(copied);
  }

  private copyObject(value: ObjectValue, depth: number): ObjectValue {
    if (value.type.isEnum) return value;
    const object = this.remember(value, new ObjectValue(value.type));
    if (this.interpreter.placed.has(value)) this.interpreter.placed.add(object);
    if (this.interpreter.onHost.has(value)) this.interpreter.onHost.add(object);
    object.span = value.span;
    if (value.payload !== undefined) object.payload = this.copy(value.payload, depth + 1);
    if (value.namespace !== undefined) {
      const shared =
        value.namespace === value.payload ? object.payload : this.copy(value.namespace, depth + 1);
      if (shared instanceof DictValue) object.namespace = shared;
    }
    for (const [name, attribute] of value.attributes)
      object.attributes.set(name, this.copy(attribute, depth + 1));
    if (value.module !== undefined) object.module = this.copyModule(value.module, depth);
    return object;
  }

  private copyModule(state: ModuleState, depth: number): ModuleState {
    const copied = new ModuleState();
    copied.training = state.training;
    copied.hasBackwardHooks = state.hasBackwardHooks;
    copied.preHooks.push(...state.preHooks);
    copied.hooks.push(...state.hooks);
    for (const table of ["parameters", "buffers", "modules"] as const) {
      const target = copied[table] as LazyMap<string, Value>;
      for (const [name, value] of state[table]) target.set(name, this.copy(value, depth + 1));
    }
    for (const [name, span] of state.attachedAt) copied.attachedAt.set(name, span);
    for (const [name, part] of state.unknownParts) copied.unknownParts.set(name, part);
    for (const [name, list] of state.parametrized) {
      const own = this.copy(list, depth + 1);
      if (own instanceof ObjectValue) copied.parametrized.set(name, own);
    }
    return copied;
  }
}

/** `copy.copy`: one level. */
export function shallowCopy(value: Value): Value {
  if (value instanceof ListValue) return new ListValue([...value.items], value.most);
  if (value instanceof DictValue) {
    const dict = new DictValue();
    dict.factory = value.factory;
    dict.tainted = value.uncertain;
    for (const [key, entry] of value.entries) dict.entries.set(key, { ...entry });
    return dict;
  }
  if (value instanceof SetValue) {
    const set = new SetValue(value.frozen);
    for (const [key, item] of value.entries) set.entries.set(key, item);
    return set;
  }
  if (!(value instanceof ObjectValue) || isUnknown(value)) return value;
  const object = new ObjectValue(value.type);
  object.payload = value.payload === undefined ? undefined : shallowCopy(value.payload);
  if (object.payload instanceof DictValue && value.namespace === value.payload)
    object.namespace = object.payload;
  else object.namespace = value.namespace;
  object.span = value.span;
  for (const [name, attribute] of value.attributes) object.attributes.set(name, attribute);
  if (value.module !== undefined) {
    object.module = new ModuleState();
    object.module.training = value.module.training;
    for (const table of ["parameters", "buffers", "modules"] as const) {
      const target = object.module[table] as LazyMap<string, Value>;
      for (const [name, one] of value.module[table]) target.set(name, one);
    }
  }
  return object;
}
