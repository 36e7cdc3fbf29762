/** Methods of `dict` and `set`. */
import { isUnknown } from "../../unknown";
import type { CallArguments } from "../arguments";
import { dictRemove, dictSet, itemsOf } from "../iteration";
import type { Interpreter } from "../interpreter";
import { keyOf, keyText } from "../operations";
import { setOf } from "../overloads";
import { DictValue, ListValue, SetValue, TupleValue, type Native, type Value } from "../values";
import { fillDict } from "./types";
import type { Span } from "../../../python/tree";

function dictIn(args: CallArguments): DictValue {
  const dict = args.at(0);
  return dict instanceof DictValue ? dict : new DictValue();
}

/** A snapshot of keys, values or pairs; Unknown when the dict is uncertain. */
function view(pick: (entry: { readonly key: Value; readonly value: Value }) => Value): Native {
  return (_, args) => {
    const dict = dictIn(args);
    return dict.uncertain ?? new ListValue([...dict.entries.values()].map(pick));
  };
}

/** Of a namespace, whose names nobody goes through, itself: `name in module.__dict__.keys()`. */
const keys: Native = (interpreter, args, span) => {
  const dict = dictIn(args);
  return dict.registry === undefined ? view((entry) => entry.key)(interpreter, args, span) : dict;
};

const get: Native = (_, args) => {
  const dict = dictIn(args);
  const key = args.at(1) ?? null;
  const file = keyOf(key);
  if (file === undefined) return isUnknown(key) ? key : null;
  const entry = dict.find(file, key);
  if (entry !== undefined) return entry.value;
  return dict.doubt(key) ?? args.or(2, "default", null);
};

const pop: Native = (interpreter, args, span) => {
  const dict = dictIn(args);
  const key = args.at(1) ?? null;
  const removed = dictRemove(interpreter, dict, key);
  if (removed !== undefined) return removed;
  if (isUnknown(key)) {
    dict.tainted ??= key;
    return key;
  }
  const doubt = dict.doubt(key);
  if (doubt !== undefined) return doubt;
  const otherwise = args.get(2, "default");
  return otherwise !== undefined ? otherwise : interpreter.raise("KeyError", keyText(key), span);
};

const setdefault: Native = (interpreter, args) => {
  const dict = dictIn(args);
  const key = args.at(1) ?? null;
  const file = keyOf(key);
  const entry = file === undefined ? undefined : dict.find(file, key);
  if (entry !== undefined) return entry.value;
  const doubt = dict.doubt(key);
  if (doubt !== undefined) return doubt;
  const value = args.or(2, "default", null);
  dictSet(interpreter, dict, key, value);
  return value;
};

const popitem: Native = (interpreter, args, span) => {
  const dict = dictIn(args);
  const last = [...dict.entries.values()].at(args.at(1) === false ? 0 : -1);
  if (last === undefined) return interpreter.raise("KeyError", "popitem(): dictionary is empty", span);
  dictRemove(interpreter, dict, last.key);
  return new TupleValue([last.key, last.value]);
};

export const dictMethods: Readonly<Record<string, Native>> = {
  keys,
  values: view((entry) => entry.value),
  items: view((entry) => new TupleValue([entry.key, entry.value])),
  get,
  pop,
  popitem,
  setdefault,
  update: (interpreter, args, span) => {
    fillDict(interpreter, dictIn(args), args.withoutFirst(), span);
    return null;
  },
  copy: (_, args) => {
    const [dict, copied] = [dictIn(args), new DictValue()];
    copied.factory = dict.factory;
    copied.tainted = dict.uncertain;
    for (const [key, entry] of dict.entries) copied.entries.set(key, { ...entry });
    return copied;
  },
  clear: (interpreter, args) => {
    const dict = dictIn(args);
    for (const entry of [...dict.entries.values()]) dictRemove(interpreter, dict, entry.key);
    dict.tainted = undefined;
    dict.registry = undefined;
    return null;
  },
  move_to_end: () => null,
};

function setIn(args: CallArguments): SetValue {
  const set = args.at(0);
  return set instanceof SetValue ? set : new SetValue();
}

function otherSet(
  interpreter: Interpreter,
  args: CallArguments,
  span: Span | undefined,
): SetValue | undefined {
  const items = itemsOf(interpreter, args.at(1) ?? null, span);
  return isUnknown(items) ? undefined : setOf(items);
}

function combined(keep: (inFirst: boolean, inSecond: boolean) => boolean): Native {
  return (interpreter, args, span) => {
    const set = setIn(args);
    const other = otherSet(interpreter, args, span);
    if (other === undefined)
      return args.unknown() ?? interpreter.unknown("unsupported", span, { what: "set" });
    const result = new SetValue();
    for (const source of [set, other]) {
      for (const [key, value] of source.entries) {
        if (keep(set.entries.has(key), other.entries.has(key))) result.entries.set(key, value);
      }
    }
    return result;
  };
}

export const setMethods: Readonly<Record<string, Native>> = {
  add: (interpreter, args) => {
    const [set, value] = [setIn(args), args.at(1) ?? null];
    const key = keyOf(value);
    if (key === undefined || set.entries.has(key)) return null;
    interpreter.references.adopt(set, value);
    set.entries.set(key, value);
    return null;
  },
  discard: (_, args) => {
    setIn(args).entries.delete(keyOf(args.at(1) ?? null) ?? "");
    return null;
  },
  remove: (_, args) => {
    setIn(args).entries.delete(keyOf(args.at(1) ?? null) ?? "");
    return null;
  },
  update: (interpreter, args, span) => {
    const set = setIn(args);
    const other = otherSet(interpreter, args, span);
    for (const [key, value] of other?.entries ?? []) set.entries.set(key, value);
    return null;
  },
  copy: (_, args) => {
    const copied = new SetValue();
    for (const [key, value] of setIn(args).entries) copied.entries.set(key, value);
    return copied;
  },
  union: combined(() => true),
  intersection: combined((first, second) => first && second),
  difference: combined((first, second) => first && !second),
  symmetric_difference: combined((first, second) => first !== second),
  issubset: (interpreter, args, span) => {
    const other = otherSet(interpreter, args, span);
    return other === undefined
      ? (args.unknown() ?? false)
      : [...setIn(args).entries.keys()].every((key) => other.entries.has(key));
  },
};
