/** Optimizers of `torch.optim` as objects: the groups of parameters they were given, and how each group is stepped. */
import type { Span } from "../../../python/tree";
import { hasFusedKernel } from "../../optimizers";
import type { OptimizerSetting } from "../../setup";
import { Tensor } from "../../tensor";
import { isUnknown, type Unknown } from "../../unknown";
import type { CallArguments } from "../arguments";
import type { Interpreter } from "../interpreter";
import { dictOf, iterate } from "../iteration";
import { DictValue, Float, ListValue, TupleValue, type ObjectValue, type Value } from "../values";

/** Parameters that are stepped alike. */
export interface ParameterGroup {
  readonly tensors: readonly Tensor[];
  readonly setting: OptimizerSetting;
}

/** Positions after the parameters of the arguments that matter to memory, by class. */
const positions: Readonly<Record<string, readonly string[]>> = {
  SGD: ["lr", "momentum", "dampening", "weight_decay", "nesterov"],
  Adam: ["lr", "betas", "eps", "weight_decay", "amsgrad"],
  AdamW: ["lr", "betas", "eps", "weight_decay", "amsgrad"],
  NAdam: ["lr", "betas", "eps", "weight_decay", "momentum_decay", "decoupled_weight_decay"],
  RAdam: ["lr", "betas", "eps", "weight_decay", "decoupled_weight_decay"],
  Adamax: ["lr", "betas", "eps", "weight_decay"],
  Adagrad: ["lr", "lr_decay", "weight_decay"],
  Adadelta: ["lr", "rho", "eps", "weight_decay"],
  ASGD: ["lr", "lambd", "alpha", "t0", "weight_decay"],
  Muon: ["lr", "weight_decay", "momentum", "nesterov"],
  RMSprop: ["lr", "alpha", "eps", "weight_decay", "momentum", "centered"],
  LBFGS: [
    "lr",
    "max_iter",
    "max_eval",
    "tolerance_grad",
    "tolerance_change",
    "history_size",
    "line_search_fn",
  ],
};

/** Names of the parameters of a constructor in `torch.optim`, as far as they matter. */
export function argumentNames(className: string): string[] {
  const own = ["params", ...(positions[className] ?? ["lr"]), "foreach", "maximize", "capturable"];
  return hasFusedKernel(className) ? [...own, "fused"] : own;
}

/** The arguments of an optimizer's constructor besides its parameters. */
export function optionsOf(className: string, args: CallArguments): Map<string, Value> {
  const options = new Map<string, Value>();
  const names = positions[className] ?? ["lr"];
  names.forEach((name, i) => {
    const given = args.get(i + 1, name);
    if (given !== undefined) options.set(name, given);
  });
  for (const [name, value] of args.keywords) if (name !== "params") options.set(name, value);
  return options;
}

/** `model.parameters()`, a list of them or of groups, named parameters: as `param_groups` holds them. */
export function parseGroups(
  interpreter: Interpreter,
  given: Value,
  defaults: ReadonlyMap<string, Value>,
  span: Span | undefined,
): ListValue | Unknown {
  if (given instanceof Tensor) return new ListValue([group([given], defaults)]);
  const items = iterate(interpreter, given, span);
  if (isUnknown(items)) return items;
  const plain: Tensor[] = [];
  const groups: DictValue[] = [];
  for (const item of items) {
    const tensor = item instanceof TupleValue ? item.items[1] : item;
    if (tensor instanceof Tensor) plain.push(tensor);
    else if (item instanceof DictValue) {
      const made = groupOfDict(interpreter, item, defaults, span);
      if (isUnknown(made)) return made;
      groups.push(made);
    } else return isUnknown(item) ? item : interpreter.unknown("call", span, { name: "Optimizer" });
  }
  if (plain.length > 0) groups.unshift(group(plain, defaults));
  return new ListValue(groups);
}

function group(tensors: readonly Tensor[], options: ReadonlyMap<string, Value>): DictValue {
  return dictOf([["params", new ListValue([...new Set(tensors)])] as const, ...options]);
}

function groupOfDict(
  interpreter: Interpreter,
  dict: DictValue,
  defaults: ReadonlyMap<string, Value>,
  span: Span | undefined,
): DictValue | Unknown {
  if (dict.uncertain !== undefined) return dict.uncertain;
  const options = new Map(defaults);
  let given: Value = null;
  for (const { key, value } of dict.entries.values()) {
    if (key === "params") given = value;
    else if (typeof key === "string") options.set(key, value);
  }
  const parsed = parseGroups(interpreter, given, options, span);
  if (isUnknown(parsed)) return parsed;
  const [only] = parsed.items;
  return only instanceof DictValue ? only : group([], options);
}

/** The groups as they are now; code may have added to them. */
export function groupsOf(optimizer: ObjectValue, name: string): ParameterGroup[] {
  const groups = optimizer.attributes.get("param_groups");
  if (!(groups instanceof ListValue)) return [];
  const found: ParameterGroup[] = [];
  for (const item of groups.items) {
    if (!(item instanceof DictValue)) continue;
    const given = item.entries.get("sparams")?.value;
    const tensors = given instanceof ListValue ? given.items.filter((one) => one instanceof Tensor) : [];
    found.push({ tensors, setting: { name, options: constantsOf(item) } });
  }
  return found;
}

function constantsOf(dict: DictValue): OptimizerSetting["options"] {
  const options: Record<string, number | boolean | string> = {};
  for (const { key, value } of dict.entries.values()) {
    if (typeof key !== "string" || key === "params") continue;
    if (typeof value === "number" || typeof value === "boolean" || typeof value === "string")
      options[key] = value;
    else if (value instanceof Float) options[key] = value.value;
  }
  return options;
}

/** The groups of an optimizer of the table, with the name that it has there. */
export function namedGroups(optimizer: ObjectValue): ParameterGroup[] {
  return groupsOf(optimizer, optimizer.type.find((type) => type.path) ?? optimizer.type.name);
}

export function parametersOf(optimizer: ObjectValue): Tensor[] {
  return groupsOf(optimizer, "").flatMap(({ tensors }) => tensors);
}
