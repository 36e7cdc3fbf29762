/** A forward hook that appends what it is given to a container outside it, which nothing empties. */
import { lastName } from "../../python/last-name";
import type { Attribute, Call, Expression, FunctionDefinition, Lambda, Name, Node } from "../../python/tree";
import { enclosingFunction, enclosingLoop, enclosingStatement, isWithin } from "../../python/walk";
import { clearingMethods, graphKeepingMethods } from "../../torch/api-graph";
import { excerpt } from "../excerpt";
import { insertAt } from "../fix";
import { defineRule, type Report, type RuleContext } from "../rule";

type MessageId = "kept" | "registered" | "forward" | "detach";
type Hook = FunctionDefinition | Lambda;

export const rule = defineRule<MessageId>({
  name: "hook-keeps-tensor",
  group: "graph",
  level: "warning",
  summary: {
    en: "A forward hook appends tensors with their graph to a container that nothing empties.",
    "zh-cn": "前向钩子把带计算图的张量追加到一个从不清空的容器中。",
  },
  messages: {
    kept: {
      en: "Every forward calls this hook, and `{holder}` keeps `{value}` with its graph: the tensors of all batches, and the activations behind each that no backward has freed, stay in memory, since nothing empties `{holder}`. Keep `{value}.detach()`, and empty `{holder}` after each batch.",
      "zh-cn":
        "每次前向传播都会调用这个钩子，而 `{holder}` 会保留 `{value}` 及其计算图：由于没有代码清空 `{holder}`，所有批次的张量，以及它们背后尚未被 backward 释放的激活，都会留在内存中。请保留 `{value}.detach()`，并在每个批次之后清空 `{holder}`。",
    },
    registered: { en: "The hook is registered here.", "zh-cn": "钩子在这里注册。" },
    forward: {
      en: "This forward calls it in each iteration.",
      "zh-cn": "这次前向传播在每次迭代中都会调用它。",
    },
    detach: {
      en: "Keep the value without its graph: `.detach()`",
      "zh-cn": "保留数值但去掉计算图：`.detach()`",
    },
  },
  create(context) {
    return {
      finish() {
        const { index } = context.torch.resolve;
        const registrations = ["register_forward_hook", "register_forward_pre_hook"].flatMap(
          (name) => index.callsByName.get(name) ?? [],
        );
        if (registrations.length === 0) return;
        const reported = new Set<Call>();
        for (const registration of registrations) check(context, registration, reported);
      },
    };
  },
});

function check(context: RuleContext<MessageId>, registration: Call, reported: Set<Call>): void {
  const hook = registration.positional[0] && hookOf(context.torch, registration.positional[0], 0);
  if (hook === undefined || registration.callee.kind !== "Attribute") return;
  const { torch } = context;
  for (const append of torch.resolve.index.callsByName.get("append") ?? []) {
    if (append.start < hook.start || append.end > hook.end || enclosingFunction(append) !== hook) continue;
    const [value] = append.positional;
    if (value === undefined || append.callee.kind !== "Attribute" || reported.has(append)) continue;
    const holder = holderOf(append.callee);
    if (
      holder === undefined ||
      !isGivenToHook(value, hook) ||
      torch.provenance.gradientMode(append) === "off"
    )
      continue;
    if (!keepsAll(context, holder, hook, append)) continue;
    const forward = repeatedForward(context, registration);
    if (forward === undefined) return;
    reported.add(append);
    report(context, { registration, holder, value, forward });
  }
}

/** The function that a registration names: a function, a lambda, a method, what a factory of this file returns. */
function hookOf(torch: RuleContext["torch"], given: Expression, depth: number): Hook | undefined {
  if (depth > 4) return undefined;
  const { resolve, scopes } = torch;
  switch (given.kind) {
    case "Lambda":
      return given;
    case "Name": {
      const bindings = scopes.lookup(given);
      const [binding] = bindings;
      if (bindings.length !== 1 || binding === undefined) return undefined;
      return binding.node.kind === "FunctionDefinition" && binding.kind === "function"
        ? binding.node
        : undefined;
    }
    case "Attribute": {
      const owner = resolve.classOf(given.object);
      return owner && resolve.methodOf(owner, given.attribute.id);
    }
    case "Call": {
      const name = resolve.qualifiedName(given.callee);
      const [first] = given.positional;
      if (name === "functools.partial" && first) return hookOf(torch, first, depth + 1);
      const target = resolve.functionOf(given);
      const [returned, ...others] = target ? resolve.returnedValues(target) : [];
      if (returned === undefined || others.length > 0) return undefined;
      return hookOf(torch, returned, depth + 1);
    }
    default:
      return undefined;
  }
}

/** `features` of `features.append`, `self.features[name].append`. */
function holderOf({ object }: Attribute): Name | Attribute | undefined {
  let at = object;
  while (at.kind === "Subscript") at = at.object;
  return at.kind === "Name" || at.kind === "Attribute" ? at : undefined;
}

/** The hook's last or second parameter (`output`, `input`), or a part of it, with its graph. */
function isGivenToHook(value: Expression, hook: Hook): boolean {
  let at = value;
  for (;;) {
    if (at.kind === "Subscript") at = at.object;
    else if (
      at.kind === "Call" &&
      at.callee.kind === "Attribute" &&
      graphKeepingMethods.has(at.callee.attribute.id)
    )
      at = at.callee.object;
    else break;
  }
  if (at.kind !== "Name") return false;
  const { id } = at;
  const place = hook.parameters.findIndex(({ name }) => name.id === id);
  return place >= 1 && place >= hook.parameters.length - 2;
}

/** The container is made once, outside the hook and outside any loop, and nothing takes out of it. */
function keepsAll(
  { torch }: RuleContext<MessageId>,
  holder: Name | Attribute,
  hook: Hook,
  append: Call,
): boolean {
  const { resolve, provenance, scopes } = torch;
  const key = resolve.keyOf(holder);
  if (key === undefined) return false;
  const statement = enclosingStatement(append);
  if (statement !== undefined && provenance.needed.surely.has(statement)) return false;
  let root: Expression = holder;
  while (root.kind === "Attribute") root = root.object;
  if (
    root.kind !== "Name" ||
    scopes.lookup(root).some(({ scope, kind }) => scope.owner === hook && kind !== "parameter")
  )
    return false;
  const definitions = provenance.flow.definitionsOf(key);
  const [only] = definitions;
  if (only === undefined || definitions.length !== 1 || enclosingLoop(only.node) !== undefined) return false;
  const around = enclosingFunction(only.node);
  if (around?.kind === "FunctionDefinition" && holder.kind === "Attribute" && around.name.id !== "__init__")
    return false;
  if (isBounded(only.value)) return false;
  // `model.features` outside its class is the same attribute by name.
  const reads =
    holder.kind === "Attribute"
      ? (resolve.index.attributesByName.get(holder.attribute.id) ?? []).filter(
          ({ parent }) => parent !== only.node,
        )
      : provenance.flow.readsOf(key);
  return reads.every((read) => !empties(read, hook));
}

function isBounded(value: Expression | undefined): boolean {
  if (value?.kind === "List") return value.elements.length > 0;
  if (value?.kind === "Dict") return false;
  if (value?.kind !== "Call") return true;
  return value.keywords.some(({ name }) => name.id === "maxlen") || value.positional.length > 1;
}

/** `features.clear()`, `del features[:]`, `features[name] = []`, or handed on to code that may do so. */
function empties(read: Expression, hook: Hook): boolean {
  let at: Expression = read;
  while (at.parent?.kind === "Subscript" && at.parent.object === at) at = at.parent;
  const { parent } = at;
  switch (parent?.kind) {
    case "Attribute":
      return (
        clearingMethods.has(parent.attribute.id) ||
        (parent.attribute.id === "values" && !isInHook(read, hook))
      );
    case "Delete":
      return true;
    case "Assign":
      return parent.targets.includes(at) || parent.value === at;
    case "Return":
      return true;
    case "Call":
      return !isReader(parent, at);
    default:
      return false;
  }
}

function isReader(call: Call, argument: Expression): boolean {
  if (!call.positional.includes(argument)) return false;
  const { callee } = call;
  const name = lastName(callee) ?? "";
  return /^(len|print|cat|stack|enumerate|zip|sum|range|save)$/.test(name);
}

function isInHook(node: Expression, hook: Hook): boolean {
  return isWithin(node, hook);
}

/** A forward with gradients in a loop over batches: what the hook is called by. */
function repeatedForward({ torch }: RuleContext<MessageId>, registration: Call): Call | undefined {
  const { resolve, provenance, trainingLoops } = torch;
  return resolve.index.calls.find((call) => {
    const loop = enclosingLoop(call);
    if (loop === undefined || resolve.qualifiedName(call.callee) !== undefined) return false;
    if (isOverBefore(loop, registration)) return false;
    if (call.positional.length + call.keywords.length === 0) return false;
    const object = resolve.objectOf(call.callee);
    if (object?.role !== "model" || object.certainty === "name" || !trainingLoops.isBatchLoop(loop))
      return false;
    return provenance.gradientMode(call) === "on" && provenance.carriedHere(call).graph === "yes";
  });
}

/** The loop of a script or notebook has ended where the hook is registered. */
function isOverBefore(loop: Node, registration: Call): boolean {
  return enclosingFunction(registration) === enclosingFunction(loop) && loop.end < registration.start;
}

interface Found {
  readonly registration: Call;
  readonly holder: Name | Attribute;
  readonly value: Expression;
  readonly forward: Call;
}

function report(context: RuleContext<MessageId>, { registration, holder, value, forward }: Found): void {
  const { source } = context;
  context.report({
    at: value,
    message: "kept",
    values: { holder: excerpt(source, holder), value: excerpt(source, value) },
    related: [
      { at: registration, message: "registered" },
      { at: forward, message: "forward" },
    ],
    fixes: fixesFor(context, registration, value),
  });
}

/** Layers give one tensor; other modules may give a tuple, which has no `.detach()`. */
function fixesFor(
  { torch }: RuleContext<MessageId>,
  registration: Call,
  value: Expression,
): NonNullable<Report<MessageId>["fixes"]> {
  const module = registration.callee.kind === "Attribute" ? registration.callee.object : undefined;
  const className = module === undefined ? undefined : torch.resolve.objectOf(module)?.className;
  const tensor =
    className !== undefined &&
    /^torch\.nn\.(Linear|Conv\w+|LayerNorm|BatchNorm\w+|Embedding|GroupNorm|RMSNorm|Sequential)$/.test(
      className,
    ) &&
    registration.callee.kind === "Attribute" &&
    registration.callee.attribute.id === "register_forward_hook";
  return [{ title: "detach", safety: tensor ? "safe" : "review", edits: [insertAt(value.end, ".detach()")] }];
}
