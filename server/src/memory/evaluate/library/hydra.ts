/**
 * Hydra: the configuration that `@hydra.main` composes from files and hands to the function, and objects that are made from
 * `_target_`. https://hydra.cc/docs/advanced/defaults_list/
 */
import { readConfiguration, type Configuration, type ConfigurationKey } from "../../../python/configuration";
import type { Span } from "../../../python/tree";
import { isUnknown, type Unknown } from "../../unknown";
import { CallArguments } from "../arguments";
import { getAttribute } from "../attributes";
import type { Interpreter } from "../interpreter";
import { LibraryName, ListValue, NativeFunction, PartialValue, type Native, type Value } from "../values";
import { dictIn } from "./configuration-values";
import { textOfFile } from "./configuration-files";
import { merged, resolved, setDotted, type MutableConfiguration } from "./interpolations";

/** Files that one composition reads at most. */
const mostFiles = 50;

type Node = ReadonlyMap<ConfigurationKey, Configuration>;

/** What the composition of one main configuration shares. */
class Composition {
  private files = 0;

  constructor(
    private readonly interpreter: Interpreter,
    private readonly folder: string,
    /** Choices of the command line by group: `optimizer=sgd`. */
    private readonly choices: ReadonlyMap<string, string>,
    private readonly span: Span | undefined,
  ) {}

  /** A configuration of a folder with all that its defaults name; Unknown as soon as one part is. */
  read(group: string, name: string): Node | Unknown {
    if (++this.files > mostFiles) return this.unclear();
    const path = [this.folder, group, /\.ya?ml$/.test(name) ? name : `${name}.yaml`]
      .filter(Boolean)
      .join("/");
    const text = textOfFile(this.interpreter, path, this.span);
    if (isUnknown(text)) return text;
    const own = readConfiguration(text, "omegaconf") ?? undefined;
    if (own === undefined && text.replaceAll(/#.*/g, "").trim() !== "") return this.unclear();
    const node: Node = own instanceof Map ? (own as Node) : new Map();
    const composed = this.withDefaults(group, node);
    return isUnknown(composed) ? composed : packaged(composed, packageOf(text, group));
  }

  /** Below the packages of what the defaults name: those are from the root on. */
  private withDefaults(
    group: string,
    own: Node,
  ): { own: Node; others: Configuration[]; ownAt: number } | Unknown {
    const listed = own.get("defaults");
    const plain = new Map([...own].filter(([key]) => key !== "defaults"));
    const others: Configuration[] = [];
    let ownAt: number | undefined;
    const defaults = Array.isArray(listed) ? (listed as readonly Configuration[]) : [];
    for (const one of defaults) {
      if (one === "_self_") {
        ownAt = others.length;
        continue;
      }
      const part = this.part(group, one);
      if (isUnknown(part)) return part;
      if (part !== undefined) others.push(part);
    }
    return { own: plain, others, ownAt: ownAt ?? others.length };
  }

  /** One line of a defaults list; undefined for what adds nothing. */
  private part(group: string, line: Configuration): Configuration | Unknown | undefined {
    if (typeof line === "string") return this.read(group, line);
    if (!(line instanceof Map)) return this.unclear();
    const [entry, other] = [...(line as Node)];
    if (entry === undefined || other !== undefined) return this.unclear();
    const [written, chosen] = [String(entry[0]), entry[1]];
    // Launchers, sweepers and logging are hydra's own.
    if (/^(override )?hydra\//.test(written)) return undefined;
    const key = written.replace(/^(override|optional) /, "");
    if (key.includes("@") || written.startsWith("override ")) return this.unclear();
    const whole = key.startsWith("/") ? key.slice(1) : [group, key].filter(Boolean).join("/");
    const choice = this.choices.get(whole) ?? chosen;
    if (choice === null) return undefined;
    return typeof choice === "string" ? this.read(whole, choice) : this.unclear();
  }

  private unclear(): Unknown {
    return this.interpreter.unknown("configurationText", this.span);
  }
}

/** `# @package _global_` at the head of a file; else the folders that it lies in. */
function packageOf(text: string, group: string): readonly string[] {
  const said = /^\s*#\s*@package\s+(\S+)/.exec(text)?.[1];
  if (said === "_global_") return [];
  if (said === undefined || said === "_group_") return group === "" ? [] : group.split("/");
  return said.split(".");
}

function packaged(
  { own, others, ownAt }: { own: Node; others: readonly Configuration[]; ownAt: number },
  path: readonly string[],
): Node {
  const placed = [...path].reverse().reduce<Configuration>((inner, key) => new Map([[key, inner]]), own);
  const parts = [...others.slice(0, ownAt), placed, ...others.slice(ownAt)];
  return parts.reduce<Configuration>((all, part) => merged(all, part), new Map()) as Node;
}

function compose(
  interpreter: Interpreter,
  folder: string,
  name: string,
  words: readonly string[],
  span: Span | undefined,
): Value {
  const groups = new Map<string, string>();
  const settings: string[] = [];
  for (const word of words) {
    const [key = "", value = ""] = word.replace(/^\+*/, "").split("=");
    const isGroup =
      /^[\w/]+$/.test(key) && interpreter.world.readBeside?.(`${folder}/${key}/${value}.yaml`) !== undefined;
    if (isGroup) groups.set(key, value);
    else settings.push(word.replace(/^\+*/, ""));
  }
  const composed = new Composition(interpreter, folder, groups, span).read("", name);
  if (isUnknown(composed)) return composed;
  const root: MutableConfiguration = new Map(composed);
  for (const setting of settings) {
    const at = setting.indexOf("=");
    const value = at <= 0 ? undefined : readConfiguration(setting.slice(at + 1), "omegaconf");
    if (value === undefined || !setDotted(root, setting.slice(0, at), value))
      return interpreter.unknown("unsupported", span, { what: setting });
  }
  return resolved(interpreter, root, interpreter.library.classOf("omegaconf.DictConfig"));
}

/** Text or none; undefined for all else. */
function textOrNone(value: Value | undefined): string | null | undefined {
  return value === undefined || value === null ? null : typeof value === "string" ? value : undefined;
}

const main: Native = (interpreter, args, span) => {
  const folder = textOrNone(args.get(0, "config_path"));
  const name = textOrNone(args.get(1, "config_name"));
  if (typeof name !== "string" || folder === undefined)
    return interpreter.unknown("call", span, { name: "hydra.main" });
  return new NativeFunction("main", (_, inner) => {
    const run = inner.at(0) ?? null;
    const words = interpreter.world.commandLine ?? [];
    const config = interpreter.guard(() => compose(interpreter, folder ?? ".", name, words, span));
    interpreter.references.retain(config);
    return new PartialValue(run, new CallArguments([config]));
  });
};

const instantiate: Native = (interpreter, args, span) => {
  const config = args.get(0, "config") ?? null;
  const made = instantiated(interpreter, config, args, span);
  return (
    made ??
    (isUnknown(config) ? config : interpreter.unknown("call", span, { name: "hydra.utils.instantiate" }))
  );
};

/** Keywords of `instantiate` that are its own: https://hydra.cc/docs/advanced/instantiate_objects/overview/ */
const options: ReadonlySet<string> = new Set(["_recursive_", "_convert_", "_partial_"]);

/** Calls what `_target_` names with the other entries; configurations inside are made first. */
function instantiated(
  interpreter: Interpreter,
  config: Value,
  given: CallArguments | undefined,
  span: Span | undefined,
): Value | undefined {
  if (config instanceof ListValue)
    return new ListValue(
      config.items.map((item) => instantiated(interpreter, item, undefined, span) ?? item),
    );
  const dict = dictIn(config);
  if (dict === undefined) return given === undefined ? config : undefined;
  const target = dict.entries.get("s_target_")?.value;
  if (target === undefined && given === undefined) return config;
  if (typeof target !== "string" || dict.uncertain !== undefined) return undefined;
  if (dict.entries.has("s_args_")) return undefined;
  // what the call says goes before the configuration
  const option = (name: string): Value | undefined =>
    given?.keywords.get(name) ?? dict.entries.get(`s${name}`)?.value;
  const isRecursive = option("_recursive_") !== false;
  const inner = (value: Value): Value =>
    isRecursive ? (instantiated(interpreter, value, undefined, span) ?? value) : value;
  const keywords = new Map<string, Value>();
  for (const { key, value } of dict.entries.values()) {
    if (typeof key !== "string" || key.startsWith("_")) continue;
    keywords.set(key, interpreter.references.keep(inner(value)));
  }
  for (const [key, value] of given?.keywords ?? []) if (!options.has(key)) keywords.set(key, value);
  const callee = named(interpreter, target, span);
  const all = new CallArguments(given?.positional.slice(1) ?? [], keywords, given?.unknownKeywords);
  if (option("_partial_") === true) return new PartialValue(callee, all);
  return interpreter.call(callee, all, span);
}

/** What a dotted name leads to: a file of the workspace, else a library. */
function named(interpreter: Interpreter, path: string, span: Span | undefined): Value {
  const parts = path.split(".");
  for (let length = parts.length - 1; length > 0; length--) {
    const file = interpreter.files.find(parts.slice(0, length).join("."), 0);
    if (file === undefined) continue;
    return parts
      .slice(length)
      .reduce<Value>((value, part) => getAttribute(interpreter, value, part, span), file);
  }
  return new LibraryName(path);
}

export const hydraFunctions: Readonly<Record<string, Native>> = {
  "hydra.main": main,
  "hydra.utils.instantiate": instantiate,
  "hydra.utils.call": instantiate,
};
