/** Configurations as values: plain dicts, and dicts whose keys are read as attributes. */
import { ConfiguredNumber, type Configuration } from "../../../python/configuration";
import type { CallArguments } from "../arguments";
import { fillDict } from "../builtins/types";
import type { Interpreter } from "../interpreter";
import { dictSet } from "../iteration";
import { ClassValue, DictValue, Float, FunctionValue, ListValue, ObjectValue, type Value } from "../values";
import type { Span } from "../../../python/tree";

/** A dict of which type; undefined for Python's own. */
export type DictType = ClassValue | undefined;

/** What the libraries' loaders give; `type` is that of every dict in it. */
export function configuredValue(
  interpreter: Interpreter,
  configuration: Configuration,
  type?: DictType,
): Value {
  interpreter.tick();
  if (configuration === null || typeof configuration !== "object") return configuration;
  if (configuration instanceof ConfiguredNumber)
    return configuration.isFloat ? new Float(configuration.value) : configuration.value;
  if (isList(configuration))
    return new ListValue(configuration.map((item) => configuredValue(interpreter, item, type)));
  const dict = new DictValue();
  for (const [key, item] of configuration)
    dictSet(interpreter, dict, key, configuredValue(interpreter, item, type));
  return type === undefined ? dict : attributeDict(type, dict);
}

/** `Array.isArray` does not tell read-only arrays from the rest. */
function isList(configuration: Configuration): configuration is readonly Configuration[] {
  return Array.isArray(configuration);
}

export function attributeDict(type: ClassValue, dict: DictValue): ObjectValue {
  const object = new ObjectValue(type);
  object.payload = dict;
  object.namespace = dict;
  return object;
}

/** The dict in a value; undefined where there is none. */
export function dictIn(value: Value | undefined): DictValue | undefined {
  const inner = value instanceof ObjectValue ? value.payload : value;
  return inner instanceof DictValue ? inner : undefined;
}

/** The same data with all dicts of another type, in new containers. */
export function convertedTo(interpreter: Interpreter, value: Value, type: DictType): Value {
  interpreter.tick();
  if (value instanceof ListValue)
    return new ListValue(value.items.map((item) => convertedTo(interpreter, item, type)));
  const source = dictIn(value);
  if (source === undefined) return value;
  const dict = new DictValue();
  dict.tainted = source.uncertain;
  for (const entry of source.entries.values())
    dictSet(interpreter, dict, entry.key, convertedTo(interpreter, entry.value, type));
  return type === undefined ? dict : attributeDict(type, dict);
}

/** Puts what `from` has into `into`, dict by dict. */
export function mergeInto(interpreter: Interpreter, into: DictValue, from: DictValue, type: DictType): void {
  into.tainted ??= from.uncertain;
  for (const { key, value } of from.entries.values()) {
    const before = typeof key === "string" ? dictIn(into.entries.get(`s${key}`)?.value) : undefined;
    const more = dictIn(value);
    if (before !== undefined && more !== undefined) mergeInto(interpreter, before, more, type);
    else dictSet(interpreter, into, key, convertedTo(interpreter, value, type));
  }
}

/**
 * A class of a library whose instances are dicts with attributes: `EasyDict`, `Munch`, `CfgNode`. Called with what a dict is
 * called with; dicts inside become such dicts too.
 */
export function attributeDictClass(name: string, base: ClassValue | undefined): ClassValue {
  const type = new ClassValue(name, base === undefined ? [] : [base]);
  type.construct = (interpreter, made, args, span) => {
    if (made.attribute("__init__") instanceof FunctionValue)
      return interpreter.unknown("base", span, { name });
    return constructed(interpreter, made, args, span);
  };
  return type;
}

function constructed(
  interpreter: Interpreter,
  type: ClassValue,
  args: CallArguments,
  span: Span | undefined,
): Value {
  const unclear = args.unknown();
  if (unclear !== undefined) return unclear;
  const dict = new DictValue();
  fillDict(interpreter, dict, args, span);
  return convertedTo(interpreter, dict, type);
}
