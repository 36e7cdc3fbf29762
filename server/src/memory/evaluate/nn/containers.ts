/** `nn.Sequential`, `ModuleList`, `ModuleDict`, `ParameterList`, `ParameterDict` and wrappers of whole models. */
import type { Span } from "../../../python/tree";
import { Tensor } from "../../tensor";
import { isUnknown } from "../../unknown";
import type { CallArguments } from "../arguments";
import { itemsOf } from "../iteration";
import type { Interpreter } from "../interpreter";
import { runEinops } from "../library/einops";
import { integer } from "../numbers";
import { keyText } from "../operations";
import { pick } from "../subscripts";
import type { LazyMap } from "../lazy-map";
import {
  DictValue,
  IteratorValue,
  ListValue,
  ObjectValue,
  SliceValue,
  TupleValue,
  type Native,
  type Value,
} from "../values";
import { attach, attachUnknown } from "./attach";
import { callInTurn } from "./call";
import { method } from "./methods";
import { wrappedBy } from "./state";

interface ContainerClass {
  readonly extends?: string;
  readonly methods: Readonly<Record<string, Native>>;
}

const nowhere: Span = { start: 0, end: 0 };

/** Puts a child under a name: a module, or for parameter containers a parameter. */
function put(interpreter: Interpreter, object: ObjectValue, name: string, value: Value): void {
  if (value instanceof Tensor) {
    if (!interpreter.parameterTensors.has(value)) makeParameter(interpreter, value);
    attach(interpreter, object, "parameters", name, value);
  } else if (isUnknown(value)) attachUnknown(interpreter, object, name, value);
  else if (value === null || (value instanceof ObjectValue && value.module !== undefined)) {
    attach(interpreter, object, "modules", name, value);
  }
}

function makeParameter(interpreter: Interpreter, tensor: Tensor): void {
  interpreter.execution.changeKind(tensor.storage, "parameter");
  tensor.requiresGrad = true;
  interpreter.parameterTensors.add(tensor);
}

/** Children in order: `"0"`, `"1"`, … of a list, or by key. */
function childrenOf(object: ObjectValue): [string, Value][] {
  const state = object.module;
  if (state === undefined) return [];
  return [...state.modules.entries(), ...state.parameters.entries()];
}

function values(object: ObjectValue): Value[] {
  return childrenOf(object).map(([, child]) => child);
}

/** Keeps the order and renames the children 0, 1, 2, … */
function replaceAll(interpreter: Interpreter, object: ObjectValue, items: readonly Value[]): void {
  const state = object.module;
  if (state === undefined) return;
  const attachedAt = new Map<Value, Span>();
  for (const [name, child] of state.modules) {
    const at = state.attachedAt.get(name);
    if (at !== undefined) attachedAt.set(child, at);
  }
  for (const item of items) interpreter.references.keep(item);
  for (const table of [state.modules, state.parameters] as LazyMap<string, Value>[]) {
    for (const child of table.values()) interpreter.references.disown(object, child);
    table.clear();
  }
  for (const [i, item] of items.entries()) {
    put(interpreter, object, String(i), item);
    const at = attachedAt.get(item);
    if (at !== undefined) state.attachedAt.set(String(i), at);
  }
}

function count(object: ObjectValue): number {
  return (object.module?.modules.size ?? 0) + (object.module?.parameters.size ?? 0);
}

const append: Native = method((object, args, interpreter) => {
  put(interpreter, object, String(count(object)), args.at(0) ?? null);
  return object;
});

const extend: Native = method((object, args, interpreter, span) => {
  const items = itemsOf(interpreter, args.at(0) ?? null, span);
  if (isUnknown(items)) {
    attachUnknown(interpreter, object, String(count(object)), items);
    return object;
  }
  for (const item of items) put(interpreter, object, String(count(object)), item);
  return object;
});

const insert: Native = method((object, args, interpreter) => {
  const items = values(object);
  const at = integer(args.at(0) ?? 0) ?? 0;
  items.splice(at, 0, args.at(1) ?? null);
  replaceAll(interpreter, object, items);
  return object;
});

/** `container[index]`; a slice makes a container of the same class. */
const getItem: Native = method((object, args, interpreter, span) => {
  const index = args.at(0) ?? null;
  const picked = pick(interpreter, values(object), index, span ?? nowhere);
  if (!(index instanceof SliceValue) || !Array.isArray(picked)) return picked as Value;
  const names = childrenOf(object);
  const sliced = new ObjectValue(
    object.type.find((type) => (type.path === undefined ? undefined : type)) ?? object.type,
  );
  const state = object.module;
  if (state === undefined) return sliced;
  sliced.module = new (state.constructor as new () => typeof state)();
  interpreter.references.keep(sliced);
  for (const [i, item] of picked.entries()) {
    const name =
      object.type.attribute("append") !== undefined && isList(object)
        ? String(i)
        : names.find(([, child]) => child === item)?.[0];
    put(interpreter, sliced, name ?? String(i), item);
  }
  return sliced;
});

function isList(object: ObjectValue): boolean {
  return object.type.find((type) => type.path) !== "torch.nn.Sequential";
}

const setItem: Native = method((object, args, interpreter) => {
  const names = childrenOf(object).map(([name]) => name);
  const index = integer(args.at(0) ?? null);
  const name = index === undefined ? undefined : names.at(index);
  if (name !== undefined) put(interpreter, object, name, args.at(1) ?? null);
  return null;
});

const deleteItem: Native = method((object, args, interpreter, span) => {
  const items = values(object);
  const index = args.at(0) ?? null;
  const picked = pick(interpreter, items, index, span ?? nowhere);
  const gone = new Set(Array.isArray(picked) ? picked : [picked]);
  replaceAll(
    interpreter,
    object,
    items.filter((item) => !gone.has(item)),
  );
  return null;
});

const pop: Native = method((object, args, interpreter, span) => {
  const items = values(object);
  const item = pick(interpreter, items, args.or(0, "key", -1), span ?? nowhere);
  if (Array.isArray(item)) return null;
  replaceAll(
    interpreter,
    object,
    items.filter((one) => one !== item),
  );
  return item;
});

const iterate: Native = method((object) => {
  const items = values(object);
  return new IteratorValue(items.values(), items);
});

const length: Native = method((object) => count(object));

const listMethods: Readonly<Record<string, Native>> = {
  append,
  extend,
  insert,
  pop,
  __getitem__: getItem,
  __setitem__: setItem,
  __delitem__: deleteItem,
  __iter__: iterate,
  __len__: length,
  __iadd__: extend,
};

/** `Sequential(a, b)` or `Sequential(OrderedDict(…))`. */
const sequentialInit: Native = method((object, args, interpreter) => {
  const only = args.positional.length === 1 ? args.at(0) : undefined;
  if (only instanceof DictValue) {
    if (only.uncertain !== undefined) attachUnknown(interpreter, object, "?", only.uncertain);
    for (const entry of only.entries.values()) put(interpreter, object, keyText(entry.key), entry.value);
    return null;
  }
  for (const [i, item] of args.positional.entries()) put(interpreter, object, String(i), item);
  return null;
});

const sequentialForward: Native = method((object, args, interpreter, span) => {
  const [missing] = object.module?.unknownParts.values() ?? [];
  if (missing !== undefined) return interpreter.note(missing);
  return callInTurn(interpreter, values(object), args.at(0) ?? args.keywords.get("input") ?? null, span);
});

const listInit: Native = method((object, args, interpreter, span) => {
  const given = args.get(0, "modules") ?? args.get(0, "values") ?? args.get(0, "parameters");
  if (given === undefined || given === null) return null;
  return extend(interpreter, args.withReceiver(object), span) === object ? null : null;
});

const update: Native = method((object, args, interpreter, span) => {
  const source = args.at(0) ?? null;
  fillByKey(interpreter, object, source, span);
  return null;
});

function fillByKey(
  interpreter: Interpreter,
  object: ObjectValue,
  source: Value,
  span: Span | undefined,
): void {
  if (source instanceof DictValue) {
    if (source.uncertain !== undefined) attachUnknown(interpreter, object, "?", source.uncertain);
    for (const entry of source.entries.values()) put(interpreter, object, keyText(entry.key), entry.value);
    return;
  }
  if (source instanceof ObjectValue && source.module !== undefined) {
    for (const [name, child] of childrenOf(source)) put(interpreter, object, name, child);
    return;
  }
  const pairs = itemsOf(interpreter, source, span);
  if (isUnknown(pairs)) {
    attachUnknown(interpreter, object, "?", pairs);
    return;
  }
  for (const pair of pairs) {
    const parts = pair instanceof TupleValue || pair instanceof ListValue ? pair.items : [];
    if (typeof parts[0] === "string") put(interpreter, object, parts[0], parts[1] ?? null);
  }
}

function lookUp(object: ObjectValue, args: CallArguments): Value | undefined {
  const key = args.at(0);
  return typeof key === "string" ? childrenOf(object).find(([name]) => name === key)?.[1] : undefined;
}

const dictMethods: Readonly<Record<string, Native>> = {
  __init__: method((object, args, interpreter, span) => {
    const given = args.at(0) ?? args.keywords.get("modules") ?? args.keywords.get("parameters") ?? null;
    if (given !== null) fillByKey(interpreter, object, given, span);
    return null;
  }),
  __getitem__: method(
    (object, args, interpreter, span) =>
      lookUp(object, args) ?? args.unknown() ?? interpreter.raise("KeyError", keyText(args.at(0)), span),
  ),
  __setitem__: method((object, args, interpreter) => {
    const key = args.at(0);
    if (typeof key === "string") put(interpreter, object, key, args.at(1) ?? null);
    else if (key !== undefined && isUnknown(key)) attachUnknown(interpreter, object, "?", key);
    return null;
  }),
  __contains__: method((object, args) => args.unknown() ?? lookUp(object, args) !== undefined),
  __iter__: method((object) => {
    const names = childrenOf(object).map(([name]) => name);
    return new IteratorValue(names.values());
  }),
  __len__: length,
  keys: method((object) => new ListValue(childrenOf(object).map(([name]) => name))),
  values: method((object) => new ListValue(values(object))),
  items: method(
    (object) => new ListValue(childrenOf(object).map(([name, child]) => new TupleValue([name, child]))),
  ),
  get: method((object, args) => lookUp(object, args) ?? args.or(1, "default", null)),
  update,
  pop: method((object, args, interpreter) => {
    const found = lookUp(object, args) ?? null;
    interpreter.references.keep(found);
    const key = args.at(0);
    if (typeof key === "string") {
      object.module?.modules.delete(key);
      object.module?.parameters.delete(key);
      if (object.references > 0) interpreter.references.release(found);
    }
    return found;
  }),
};

/** Wrappers that call the module they hold: `DataParallel(model)`, `DistributedDataParallel(model)`. */
const wrapperMethods: Readonly<Record<string, Native>> = {
  __init__: method((object, args, interpreter) => {
    put(interpreter, object, "module", args.or(0, "module", null));
    return null;
  }),
  forward: method((object, args, interpreter, span) =>
    interpreter.call(wrappedBy(object) ?? null, args, span),
  ),
};

const wrapper: ContainerClass = { methods: wrapperMethods };

/** Besides, it keeps buckets for the gradients, whatever the number of processes; none where gradients are views of them. */
const replicating: ContainerClass = {
  methods: {
    ...wrapperMethods,
    __init__: method((object, args, interpreter, span) => {
      put(interpreter, object, "module", args.or(0, "module", null));
      if (args.keywords.get("gradient_as_bucket_view") !== true) interpreter.replicated ??= { span };
      return null;
    }),
  },
};

/** `Rearrange('b c h w -> b (h w) c')`: what the constructor got is what the forward runs with. */
function einopsClass(operation: "rearrange" | "reduce"): ContainerClass {
  const kept = new WeakMap<ObjectValue, CallArguments>();
  return {
    methods: {
      __init__: method((object, args) => {
        kept.set(object, args);
        return null;
      }),
      forward: method((object, args, interpreter, span) =>
        runEinops(operation, interpreter, args.at(0) ?? null, kept.get(object) ?? args, span),
      ),
    },
  };
}

export const containerClasses: Readonly<Record<string, ContainerClass>> = {
  "torch.nn.Sequential": {
    methods: { ...listMethods, __init__: sequentialInit, forward: sequentialForward },
  },
  "torch.nn.ModuleList": { methods: { ...listMethods, __init__: listInit } },
  "torch.nn.ParameterList": { methods: { ...listMethods, __init__: listInit } },
  "torch.nn.ModuleDict": { methods: dictMethods },
  "torch.nn.ParameterDict": { methods: dictMethods },
  "einops.layers.torch.Rearrange": einopsClass("rearrange"),
  "einops.layers.torch.Reduce": einopsClass("reduce"),
  "torch.nn.DataParallel": wrapper,
  "torch.nn.parallel.DataParallel": wrapper,
  "torch.nn.parallel.DistributedDataParallel": replicating,
  "torch.distributed.fsdp.FullyShardedDataParallel": wrapper,
};
