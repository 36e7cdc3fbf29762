/** What a block of statements might do when nobody knows whether it runs. */
import { lastName } from "../../python/last-name";
import type { Call, Expression, Node, Statement } from "../../python/tree";
import { childrenOf } from "../../python/walk";

export interface Effects {
  /** Everything the block may assign or change: targets, and objects whose methods are called as statements. */
  readonly targets: readonly Expression[];
  /** The targets among them that are bound anew, and containers that something is put into. */
  readonly bound: readonly Expression[];
  /** Objects that get attributes whose names are not written out: `setattr(self, key, value)`. */
  readonly setByName: readonly Expression[];
  /** Has a call of `backward`, `step` or `zero_grad`. */
  readonly trains: boolean;
  /** Copies tensors into what it binds: the weights of the best model. */
  readonly copies: boolean;
  /** Nothing but logging, assertions and the like. */
  readonly harmless: boolean;
  /** Always ends in an exception: a script that works never runs it. */
  readonly raises: boolean;
  /** Has a `return`, `break` or `continue` that leaves the block. */
  readonly leaves: boolean;
}

const cache = new WeakMap<readonly Statement[], Effects>();

/** Functions and methods that only tell a person something. */
const tellingNames = new Set(
  (
    "print warn debug info warning error critical log exception write flush add_scalar add_image add_histogram " +
    "set_description set_postfix"
  ).split(" "),
);

/** Methods that fill what is there with other values: a checkpoint leaves models and optimizers as large as they are. */
const fillingValues = new Set(["load_state_dict"]);

const trainingNames = new Set(["backward", "manual_backward", "step", "zero_grad"]);
const copyingNames = new Set(["deepcopy", "clone"]);

export function effectsOf(body: readonly Statement[]): Effects {
  const known = cache.get(body);
  if (known !== undefined) return known;
  const effects = analyze(body);
  cache.set(body, effects);
  return effects;
}

function analyze(body: readonly Statement[]): Effects {
  const targets: Expression[] = [];
  const bound: Expression[] = [];
  const setByName: Expression[] = [];
  let harmless = true;
  let leaves = false;
  let trains = false;
  let copies = false;
  const pending: Node[] = [...body].reverse();
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    const own = targetsOf(node);
    targets.push(...own);
    bound.push(...(node.kind === "ExpressionStatement" ? filledByCall(node.expression) : own));
    if (node.kind === "Attribute" && trainingNames.has(node.attribute.id)) trains = true;
    if (node.kind === "Call" && copyingNames.has(calledName(node))) copies = true;
    if (own.length > 0) harmless = false;
    if (node.kind === "Call") setByName.push(...setByCall(node));
    if (node.kind === "Return" || node.kind === "Break" || node.kind === "Continue") leaves = true;
    if (node.kind === "Yield" || node.kind === "Await" || node.kind === "Invalid") harmless = false;
    if (node.kind === "FunctionDefinition" || node.kind === "ClassDefinition" || node.kind === "Lambda")
      continue;
    pending.push(...childrenOf(node).reverse());
  }
  const raises = body.at(-1)?.kind === "Raise" && !leaves;
  return {
    targets,
    bound,
    setByName,
    trains,
    copies: copies && bound.length > 0,
    harmless: harmless && !leaves,
    raises,
    leaves,
  };
}

/** The expressions that one node assigns or may change. */
function targetsOf(node: Node): Expression[] {
  switch (node.kind) {
    case "Assign":
    case "Delete":
      return node.targets;
    case "AnnotatedAssign":
      return node.value === undefined ? [] : [node.target];
    case "AugmentedAssign":
    case "For":
    case "NamedExpression":
      return [node.target];
    case "With":
      return node.items.flatMap((item) => (item.target === undefined ? [] : [item.target]));
    case "FunctionDefinition":
    case "ClassDefinition":
      return [node.name];
    case "ExpressionStatement":
      return changedByCall(node.expression);
    default:
      return [];
  }
}

const fillingNames = new Set(["append", "appendleft", "extend", "insert", "update", "add", "setdefault"]);

/** `xs.append(x)` puts something into `xs`. */
export function filledByCall(expression: Expression): Expression[] {
  if (expression.kind !== "Call" || expression.callee.kind !== "Attribute") return [];
  const { object, attribute } = expression.callee;
  return fillingNames.has(attribute.id) ? [object] : [];
}

function setByCall(call: Call): Expression[] {
  const [object, name] = call.positional;
  const isSetting = calledName(call) === "setattr" && object !== undefined && name !== undefined;
  return isSetting && name.kind !== "String" ? [object] : [];
}

/** `append` of `xs.append(x)`, `print` of `print(x)`. */
export function calledName({ callee }: Call): string {
  return lastName(callee) ?? "";
}

/** `xs.append(x)` may change `xs`; `f(model)` may change `model`; `print(x)` changes nothing. */
function changedByCall(expression: Expression): Expression[] {
  if (expression.kind !== "Call") return [];
  const { callee } = expression;
  const name = calledName(expression);
  if (tellingNames.has(name) || fillingValues.has(name)) return [];
  const given = [...expression.positional, ...expression.keywords.map((keyword) => keyword.value)];
  const named = given.filter((argument) => argument.kind === "Name" || argument.kind === "Attribute");
  return callee.kind === "Attribute" ? [callee.object, ...named] : named;
}
