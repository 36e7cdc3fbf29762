/**
 * Configuration files that a script names and reads: `yaml.safe_load(open(path))`, `json.load`, `OmegaConf.load`, yacs. Only
 * files of the workspace, and only what the text says; keys that it does not have stay as unknown as they are to Python.
 */
import { readConfiguration, type ConfigurationForm } from "../../../python/configuration";
import type { Span } from "../../../python/tree";
import { isUnknown, type Unknown } from "../../unknown";
import { CallArguments } from "../arguments";
import type { Interpreter } from "../interpreter";
import { dictSet, itemsOf } from "../iteration";
import {
  DictValue,
  ListValue,
  NativeFunction,
  ObjectValue,
  type ClassValue,
  type Native,
  type Value,
} from "../values";
import { configuredValue, convertedTo, dictIn, mergeInto, type DictType } from "./configuration-values";
import { dottedList, resolved } from "./interpolations";
import { pathText } from "./paths";
import { libraryClass } from "./library-class";

/** An opened file; its text and its name are kept under names that Python cannot have. */
const fileType = libraryClass("TextIOWrapper", {});
const textKey = " text";

fileType.addMethods({
  __enter__: (_, args) => args.at(0) ?? null,
  __exit__: () => null,
  close: () => null,
  read: (interpreter, args, span) => textOf(interpreter, args.at(0) ?? null, span),
});

const named = /\.(json|ya?ml)$/i;

/** The text of a configuration file; Unknown where it cannot be read. */
export function textOfFile(
  interpreter: Interpreter,
  path: Value | undefined,
  span: Span | undefined,
): string | Unknown {
  const name = pathText(path);
  if (name === undefined) return path !== undefined && isUnknown(path) ? path : notOpened(interpreter, span);
  if (!named.test(name) || interpreter.world.readBeside === undefined) return notOpened(interpreter, span);
  const text = interpreter.world.readBeside(name);
  if (text === undefined) return interpreter.unknown("configurationFile", span, { name });
  interpreter.assumed.set(`configuration:${name}`, interpreter.ownSpan(span));
  return text;
}

function notOpened(interpreter: Interpreter, span: Span | undefined): Unknown {
  return interpreter.unknown("name", span, { name: "open" });
}

/** `open(path)`: the files that nobody else reads are as unknown as ever. */
export const openFile: Native = (interpreter, args, span) => {
  const mode = args.or(1, "mode", "r");
  if (typeof mode !== "string" || /[wax+]/.test(mode)) return notOpened(interpreter, span);
  const text = textOfFile(interpreter, args.get(0, "file"), span);
  if (isUnknown(text)) return text;
  const file = new ObjectValue(fileType);
  file.attributes.set(textKey, text);
  return file;
};

/** The text of a file that was opened, or a text itself. */
function textOf(interpreter: Interpreter, source: Value, span: Span | undefined): string | Unknown {
  if (typeof source === "string") return source;
  const text = source instanceof ObjectValue ? source.attributes.get(textKey) : undefined;
  if (typeof text === "string") return text;
  return isUnknown(source) ? source : notOpened(interpreter, span);
}

function parsed(
  interpreter: Interpreter,
  text: string | Unknown,
  form: ConfigurationForm,
  type: DictType,
  span: Span | undefined,
): Value {
  if (isUnknown(text)) return text;
  const configuration = readConfiguration(text, form);
  if (configuration === undefined) return interpreter.unknown("configurationText", span);
  return form === "omegaconf"
    ? resolved(interpreter, configuration, type)
    : configuredValue(interpreter, configuration, type);
}

const loadYaml: Native = (interpreter, args, span) =>
  parsed(interpreter, textOf(interpreter, args.get(0, "stream") ?? null, span), "yaml", undefined, span);

const loadJson: Native = (interpreter, args, span) => {
  const value = parsed(interpreter, textOf(interpreter, args.at(0) ?? null, span), "json", undefined, span);
  const hook = args.keywords.get("object_hook") ?? args.keywords.get("object_pairs_hook") ?? null;
  if (hook === null || isUnknown(value)) return value;
  if (args.keywords.has("object_pairs_hook") || isUnknown(hook))
    return interpreter.unknown("call", span, { name: "json.load" });
  return hooked(interpreter, value, hook, span);
};

/** `object_hook`: called with every dict, the innermost first. */
function hooked(interpreter: Interpreter, value: Value, hook: Value, span: Span | undefined): Value {
  if (value instanceof ListValue)
    return new ListValue(value.items.map((item) => hooked(interpreter, item, hook, span)));
  if (!(value instanceof DictValue)) return value;
  const dict = new DictValue();
  for (const entry of value.entries.values())
    dictSet(interpreter, dict, entry.key, hooked(interpreter, entry.value, hook, span));
  return interpreter.call(hook, new CallArguments([dict]), span);
}

function dictConfig(interpreter: Interpreter): DictType {
  return interpreter.library.classOf("omegaconf.DictConfig");
}

const loadConfig: Native = (interpreter, args, span) => {
  const file = args.get(0, "file_") ?? null;
  const isOpened = file instanceof ObjectValue && file.attributes.has(textKey);
  const text = isOpened ? textOf(interpreter, file, span) : textOfFile(interpreter, file, span);
  return parsed(interpreter, text, "omegaconf", dictConfig(interpreter), span);
};

const createConfig: Native = (interpreter, args, span) => {
  const source = args.get(0, "obj");
  if (source === undefined) return convertedTo(interpreter, new DictValue(), dictConfig(interpreter));
  if (typeof source === "string")
    return parsed(interpreter, source, "omegaconf", dictConfig(interpreter), span);
  const isData = source instanceof ListValue || dictIn(source) !== undefined || isUnknown(source);
  return isData
    ? convertedTo(interpreter, source, dictConfig(interpreter))
    : interpreter.unknown("call", span, { name: "OmegaConf.create" });
};

const mergeConfigs: Native = (interpreter, args, span) => {
  const type = dictConfig(interpreter);
  const merged = new DictValue();
  for (const one of args.positional) {
    const dict = dictIn(one);
    // What refers to another key may come to mean another value.
    if (dict === undefined || dict.hasReferences)
      return isUnknown(one) ? one : interpreter.unknown("call", span, { name: "OmegaConf.merge" });
    mergeInto(interpreter, merged, dict, type);
  }
  return convertedTo(interpreter, merged, type);
};

const ofCommandLine: Native = (interpreter, args, span) => {
  const given = args.at(0);
  const words =
    given === undefined ? [...(interpreter.world.commandLine ?? [])] : itemsOf(interpreter, given, span);
  if (isUnknown(words)) return words;
  const unclear = words.find(isUnknown);
  if (unclear !== undefined) return unclear;
  const configuration = dottedList(words.filter((word) => typeof word === "string"));
  return configuration === undefined
    ? interpreter.unknown("call", span, { name: "OmegaConf.from_cli" })
    : configuredValue(interpreter, configuration, dictConfig(interpreter));
};

const nothing: Native = () => null;

export const configurationFunctions: Readonly<Record<string, Native>> = {
  ...Object.fromEntries(
    ["load", "safe_load", "full_load", "unsafe_load"].map((name) => [`yaml.${name}`, loadYaml]),
  ),
  "json.load": loadJson,
  "json.loads": loadJson,
  "omegaconf.OmegaConf.load": loadConfig,
  "omegaconf.OmegaConf.create": createConfig,
  "omegaconf.OmegaConf.merge": mergeConfigs,
  "omegaconf.OmegaConf.from_cli": ofCommandLine,
  "omegaconf.OmegaConf.from_dotlist": ofCommandLine,
  "omegaconf.OmegaConf.to_container": (interpreter, args) =>
    convertedTo(interpreter, args.at(0) ?? null, undefined),
  "omegaconf.OmegaConf.to_object": (interpreter, args) =>
    convertedTo(interpreter, args.at(0) ?? null, undefined),
  "omegaconf.OmegaConf.is_config": (_, args) => args.at(0) instanceof ObjectValue,
  ...Object.fromEntries(
    ["save", "resolve", "set_struct", "set_readonly", "register_new_resolver"].map((name) => [
      `omegaconf.OmegaConf.${name}`,
      nothing,
    ]),
  ),
  "munch.munchify": (interpreter, args) =>
    convertedTo(interpreter, args.at(0) ?? null, interpreter.library.classOf("munch.Munch")),
};

/** Methods of yacs' nodes, whose own class reads files. */
const nodeMethods: Readonly<Record<string, Native>> = {
  merge_from_file: (interpreter, args, span) => {
    const [node, type] = [dictIn(args.at(0)), interpreter.library.classOf("yacs.config.CfgNode")];
    const more = parsed(interpreter, textOfFile(interpreter, args.at(1), span), "yaml", type, span);
    const dict = dictIn(more);
    if (node === undefined) return null;
    if (dict !== undefined) mergeInto(interpreter, node, dict, type);
    else spoil(node, isUnknown(more) ? more : interpreter.unknown("configurationText", span));
    return null;
  },
  merge_from_list: (interpreter, args, span) => {
    const [node, list] = [dictIn(args.at(0)), args.at(1)];
    const isEmpty = list === null || (list instanceof ListValue && list.items.length === 0);
    if (node !== undefined && !isEmpty)
      spoil(node, interpreter.unknown("call", span, { name: "merge_from_list" }));
    return null;
  },
  clone: (interpreter, args) => convertedTo(interpreter, args.at(0) ?? null, typeOf(args.at(0))),
  freeze: nothing,
  defrost: nothing,
  dump: (interpreter, _, span) => interpreter.unknown("call", span, { name: "dump" }),
};

function typeOf(value: Value | undefined): DictType {
  return value instanceof ObjectValue ? value.type : undefined;
}

/** Any of the values may have become another one. */
function spoil(dict: DictValue, reason: Unknown): void {
  dict.tainted ??= reason;
  for (const entry of dict.entries.values()) {
    const inner = dictIn(entry.value);
    if (inner === undefined) entry.value = reason;
    else spoil(inner, reason);
  }
}

export function addNodeMethods(type: ClassValue): void {
  for (const [name, method] of Object.entries(nodeMethods))
    type.attributes.set(name, new NativeFunction(name, method));
}
