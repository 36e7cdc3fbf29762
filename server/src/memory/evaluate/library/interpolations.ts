/** OmegaConf's `${key}`, and settings written with dots: `model.width=64`. https://omegaconf.readthedocs.io */
import { readConfiguration, type Configuration, type ConfigurationKey } from "../../../python/configuration";
import type { Interpreter } from "../interpreter";
import { ListValue, type Value } from "../values";
import { configuredValue, dictIn, type DictType } from "./configuration-values";

const reference = /\$\{([^${}]*)\}/;
/** Longer chains of references are taken for circles. */
const mostSteps = 20;

/** The configuration as a value, its references followed; what only a resolver knows stays unknown. */
export function resolved(interpreter: Interpreter, configuration: Configuration, type: DictType): Value {
  const value = configuredValue(interpreter, configuration, type);
  let hasReferences = false;
  const visit = (one: Value, path: readonly ConfigurationKey[]): Value => {
    if (typeof one === "string" && one.includes("${")) {
      hasReferences = true;
      const found = followed(configuration, one, path, mostSteps);
      return found === undefined
        ? interpreter.unknown("reference", interpreter.callSpan, { text: one })
        : configuredValue(interpreter, found, type);
    }
    if (one instanceof ListValue) one.items.forEach((item, i) => (one.items[i] = visit(item, [...path, i])));
    for (const entry of dictIn(one)?.entries.values() ?? []) {
      const { key } = entry;
      if (typeof key === "number" || typeof key === "string")
        entry.value = visit(entry.value, [...path, key]);
    }
    return one;
  };
  const result = visit(value, []);
  const dict = dictIn(result);
  if (dict !== undefined) dict.hasReferences = hasReferences;
  return result;
}

function followed(
  root: Configuration,
  text: string,
  path: readonly ConfigurationKey[],
  steps: number,
): Configuration | undefined {
  if (steps === 0) return undefined;
  const match = reference.exec(text);
  if (match === null) return text.includes("${") ? undefined : text;
  const [whole, inner = ""] = match;
  const found = targetOf(root, inner.trim(), path);
  if (found === undefined) return undefined;
  const value =
    typeof found.value === "string" ? followed(root, found.value, found.path, steps - 1) : found.value;
  if (value === undefined || hasReference(value)) return undefined;
  if (whole === text) return value;
  // Inside a text only texts and whole numbers are written the same everywhere.
  if (typeof value !== "string") return undefined;
  return followed(
    root,
    text.replace(whole, () => value),
    path,
    steps - 1,
  );
}

function hasReference(value: Configuration): boolean {
  if (typeof value === "string") return value.includes("${");
  if (value instanceof Map)
    return [...(value as ReadonlyMap<ConfigurationKey, Configuration>).values()].some(hasReference);
  return Array.isArray(value) && (value as readonly Configuration[]).some(hasReference);
}

/** `a.b` from the root, `.b` beside the key itself, one dot more for each level up. */
function targetOf(
  root: Configuration,
  name: string,
  path: readonly ConfigurationKey[],
): { readonly value: Configuration; readonly path: readonly ConfigurationKey[] } | undefined {
  const dots = /^\.*/.exec(name)?.[0].length ?? 0;
  if (!/^[\w.-]+$/.test(name) || dots > path.length) return undefined;
  const target = [...(dots === 0 ? [] : path.slice(0, path.length - dots)), ...name.slice(dots).split(".")];
  let value: Configuration | undefined = root;
  for (const key of target) {
    const map: Configuration | undefined = value;
    value = map instanceof Map ? (map as ReadonlyMap<ConfigurationKey, Configuration>).get(key) : undefined;
    if (value === undefined) return undefined;
  }
  return { value, path: target };
}

export type MutableConfiguration = Map<ConfigurationKey, Configuration>;

/** `["model.width=64", "lr=0.1"]`; undefined where a word is no such setting. */
export function dottedList(words: readonly string[]): MutableConfiguration | undefined {
  const configuration: MutableConfiguration = new Map();
  for (const word of words) {
    const at = word.indexOf("=");
    if (at <= 0 || word.startsWith("-")) return undefined;
    const value = readConfiguration(word.slice(at + 1), "omegaconf");
    if (value === undefined || !setDotted(configuration, word.slice(0, at), value)) return undefined;
  }
  return configuration;
}

/** False where something else than a dict stands in the way. */
export function setDotted(root: MutableConfiguration, name: string, value: Configuration): boolean {
  const path = name.split(".");
  const last = path.pop() ?? "";
  let at = root;
  for (const key of path) {
    const inner = at.get(key);
    if (inner !== undefined && inner !== null && !(inner instanceof Map)) return false;
    const next: MutableConfiguration = new Map(
      (inner as ReadonlyMap<ConfigurationKey, Configuration> | null | undefined) ?? [],
    );
    at.set(key, next);
    at = next;
  }
  at.set(last, value);
  return true;
}

/** Dict by dict; what comes later counts. */
export function merged(before: Configuration | undefined, after: Configuration): Configuration {
  if (!(before instanceof Map) || !(after instanceof Map)) return after;
  const result: MutableConfiguration = new Map(before as ReadonlyMap<ConfigurationKey, Configuration>);
  for (const [key, value] of after as ReadonlyMap<ConfigurationKey, Configuration>)
    result.set(key, merged(result.get(key), value));
  return result;
}
