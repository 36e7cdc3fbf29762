/**
 * `best = model.state_dict()` kept while training goes on. torch/nn/modules/module.py, `_save_to_state_dict`: the values
 * are the parameters themselves (detached, same storage), and the optimizer changes them in place.
 */
import { lastName } from "../../python/last-name";
import { FileMemo } from "../../python/file-memo";
import type { Assign, Call, Expression, If, Node, Statement } from "../../python/tree";
import {
  ancestors,
  enclosingFunction,
  enclosingStatement,
  isWithin,
  statementList,
  walk,
} from "../../python/walk";
import type { Resolver } from "../../torch/resolve";
import { readsOfTarget } from "../../torch/reads";
import type { Provenance } from "../../torch/provenance";
import type { BackwardCall } from "../../torch/provenance/sinks";
import type { LoopNode } from "../../torch/training-loop";
import { replaceSpan } from "../fix";
import { excerpt } from "../excerpt";
import { defineRule, type RuleContext } from "../rule";

type MessageId = keyof typeof messages;

const messages = {
  best: {
    en: "`{holder}` is no copy: `{state}` hands out the tensors of the parameters themselves, and the steps that follow change them in place. What is used later is the state after the last step, not this one. Keep copies of the tensors, on the CPU if the GPU has no room for them.",
    "zh-cn":
      "`{holder}` 不是副本：`{state}` 给出的就是参数本身的张量，之后的更新会就地修改它们。后面用到的是最后一步之后的状态，而不是此刻的状态。请保存张量的副本；显存不够时放在 CPU 上。",
  },
  before: {
    en: "`{holder}` is no copy: `{state}` hands out the tensors of the parameters themselves, and the training that follows changes them in place. Loading it later changes nothing. Keep copies of the tensors, on the CPU if the GPU has no room for them.",
    "zh-cn":
      "`{holder}` 不是副本：`{state}` 给出的就是参数本身的张量，之后的训练会就地修改它们，以后再加载它不会有任何变化。请保存张量的副本；显存不够时放在 CPU 上。",
  },
  model: {
    en: "`{holder}` is no copy: it is `{model}` itself, and the steps that follow change its parameters in place. What is used later is the model after the last step, not this one. Keep a copy of its state, `copy.deepcopy({model}.state_dict())`, on the CPU if the GPU has no room for it.",
    "zh-cn":
      "`{holder}` 不是副本，而就是 `{model}` 本身，之后的更新会就地修改它的参数。后面用到的是最后一步之后的模型，而不是此刻的模型。请保存其状态的副本：`copy.deepcopy({model}.state_dict())`；显存不够时放在 CPU 上。",
  },
  trains: {
    en: "Training goes on here and changes the tensors.",
    "zh-cn": "训练在这里继续，并修改这些张量。",
  },
  used: { en: "It is used here as if it were the earlier state.", "zh-cn": "在这里被当作先前的状态使用。" },
  copy: { en: "Keep a copy of each tensor on the CPU", "zh-cn": "在 CPU 上保存每个张量的副本" },
};

export const rule = defineRule<MessageId>({
  name: "best-state-aliased",
  group: "loading",
  level: "error",
  summary: {
    en: "A kept `state_dict()` is no copy: training goes on changing it.",
    "zh-cn": "保留的 `state_dict()` 不是副本：继续训练会改变它。",
  },
  messages,
  create: (context) => ({
    finish() {
      const { resolve } = context.torch;
      for (const call of resolve.index.callsByName.get("state_dict") ?? []) {
        const kept = keptState(resolve, call);
        if (kept !== undefined) check(context, kept);
      }
      for (const statement of resolve.index.assignments) {
        const kept = statement.kind === "Assign" ? keptModel(resolve, statement) : undefined;
        if (kept !== undefined) checkModel(context, kept);
      }
    },
  }),
});

interface KeptState {
  /** `model.state_dict()`; the model itself where that is kept. */
  readonly call: Expression;
  readonly model: Expression;
  /** The expression that is stored: the call, or a shallow copy around it. */
  readonly value: Expression;
  readonly statement: Statement;
  /** The variable or attribute; the list of `states.append(…)`. */
  readonly holder: Expression;
  readonly how: "assigned" | "appended";
}

function keptState(resolve: Resolver, call: Call): KeptState | undefined {
  if (call.callee.kind !== "Attribute" || call.positional.length > 0) return undefined;
  const model = unwrapped(call.callee.object);
  if (model.kind !== "Name" && model.kind !== "Attribute") return undefined;
  if (visitsCpu(resolve, model)) return undefined;
  const value = outermostAlias(resolve, call);
  const { parent } = value;
  if (parent?.kind === "Assign") {
    const [target, other] = parent.targets;
    const pair = target && elementOfPair(target, value, call);
    const holder = pair ? holderOf(pair.target) : target && holderOf(target);
    if (other !== undefined || holder === undefined) return undefined;
    return { call, model, value: pair?.value ?? value, statement: parent, holder, how: "assigned" };
  }
  if (parent?.kind !== "Call" || parent.callee.kind !== "Attribute") return undefined;
  const { attribute, object } = parent.callee;
  const statement = enclosingStatement(parent);
  if (attribute.id !== "append" || statement?.kind !== "ExpressionStatement") return undefined;
  if (object.kind !== "Name" && object.kind !== "Attribute") return undefined;
  return { call, model, value, statement, holder: object, how: "appended" };
}

/** `model.state_dict()` and the variable that gets it, of `best_epoch, best_state = epoch, model.state_dict()`. */
function elementOfPair(
  target: Expression,
  value: Expression,
  call: Call,
): { readonly target: Expression; readonly value: Expression } | undefined {
  if (target.kind !== "Tuple" || value.kind !== "Tuple" || target.elements.length !== value.elements.length)
    return undefined;
  if ([...target.elements, ...value.elements].some(({ kind }) => kind === "Starred")) return undefined;
  const index = value.elements.findIndex((element) => isWithin(call, element));
  const [variable, element] = [target.elements[index], value.elements[index]];
  return variable && element && { target: variable, value: element };
}

/** `best_model = model`. */
function keptModel(resolve: Resolver, statement: Assign): KeptState | undefined {
  const [target, other] = statement.targets;
  const holder = target && holderOf(target);
  if (holder === undefined || other !== undefined || !/best/i.test(lastName(holder) ?? "")) return undefined;
  const model = unwrapped(statement.value);
  if (model.kind !== "Name" && model.kind !== "Attribute") return undefined;
  if (resolve.roleOf(model) !== "model" || resolve.keyOf(model) === resolve.keyOf(holder)) return undefined;
  return { call: model, model, value: statement.value, statement, holder, how: "assigned" };
}

function checkModel(context: RuleContext<MessageId>, kept: KeptState): void {
  if (isCopiedAtOnce(context, kept)) return;
  const reads = readsOfTarget(context.torch.resolve, kept.holder).filter(
    (read) =>
      isConsumed(context)(read) || isRun(read) || isTakenBack(read, kept.model, context.torch.resolve),
  );
  const found = reads.length === 0 ? undefined : keptDuring(context, kept, reads);
  if (found === undefined || !isTrainedBy(context, kept.model, found.trains)) return;
  const { source } = context;
  context.report({
    at: kept.value,
    message: "model",
    values: { holder: source.slice(kept.holder), model: source.slice(kept.model) },
    related: [
      { at: found.trains, message: "trains" },
      { at: found.read, message: "used" },
    ],
  });
}

/** `best_model(x)`, `best_model.eval()`, `best_model.state_dict()`. */
function isRun(read: Expression): boolean {
  const { parent } = read;
  if (parent?.kind === "Call") return parent.callee === read;
  return parent?.kind === "Attribute" && /^(eval|state_dict|predict|generate)$/.test(parent.attribute.id);
}

/** `model = best_model`. */
function isTakenBack(read: Expression, model: Expression, resolve: Resolver): boolean {
  const { parent } = read;
  if (parent?.kind !== "Assign" || parent.value !== read) return false;
  const [target] = parent.targets;
  return (
    parent.targets.length === 1 && target !== undefined && resolve.keyOf(target) === resolve.keyOf(model)
  );
}

/** The loss of a backward hangs on this very model, which is one object all through the loops around it. */
function isTrainedBy({ torch }: RuleContext, model: Expression, backward: Node): boolean {
  const { resolve, provenance } = torch;
  const key = resolve.keyOf(model);
  const isLoopVariable =
    model.kind === "Name" && resolve.scopes.lookup(model).some(({ kind }) => kind === "for");
  if (key === undefined || isLoopVariable) return false;
  const values = provenance.backwards.find(({ call }) => call === backward)?.values ?? [];
  return values.some((value) =>
    [...torch.provenance.graphCalls(value)].some(
      (call) => call.kind === "Call" && resolve.keyOf(unwrapped(call.callee)) === key,
    ),
  );
}

const knownMoved = new FileMemo<ReadonlySet<string | undefined>>();

/** `model.cpu()` before the state is taken, `model.cuda()` behind it: the parameters get other storage. */
function visitsCpu(resolve: Resolver, model: Expression): boolean {
  const moved = knownMoved.of(resolve.module, () => new Set(movedToCpu(resolve)));
  return moved.has(resolve.keyOf(model));
}

/** The keys of what a file moves to the CPU. */
function movedToCpu(resolve: Resolver): (string | undefined)[] {
  const { callsByName } = resolve.index;
  return [...(callsByName.get("cpu") ?? []), ...(callsByName.get("to") ?? [])].flatMap(
    ({ callee, positional: [device] }) => {
      if (callee.kind !== "Attribute") return [];
      const isMove = callee.attribute.id === "cpu" || (device?.kind === "String" && device.value === "cpu");
      return isMove ? [resolve.keyOf(unwrapped(callee.object))] : [];
    },
  );
}

/** `model` of `model.module`. */
function unwrapped(expression: Expression): Expression {
  const isWrapper = expression.kind === "Attribute" && /^(module|_orig_mod)$/.test(expression.attribute.id);
  return isWrapper ? expression.object : expression;
}

function holderOf(target: Expression): Expression | undefined {
  return target.kind === "Name" || target.kind === "Attribute" ? target : undefined;
}

/** The call with what hands on the same tensors around it: shallow copies, dictionaries that hold it. */
function outermostAlias(resolve: Resolver, call: Call): Expression {
  let value: Expression = call;
  for (;;) {
    const next = aliasAround(resolve, value);
    if (next === undefined) return value;
    value = next;
  }
}

function aliasAround(resolve: Resolver, value: Expression): Expression | undefined {
  const { parent } = value;
  if (parent?.kind === "Dict" || parent?.kind === "Tuple") return parent;
  if (parent?.kind === "Call" && parent.positional[0] === value) {
    const name = resolve.qualifiedName(parent.callee);
    return /^(builtins\.dict|collections\.OrderedDict|copy\.copy)$/.test(name ?? "") ? parent : undefined;
  }
  if (parent?.kind !== "Attribute" || parent.parent?.kind !== "Call" || parent.parent.callee !== parent)
    return undefined;
  const called = parent.parent;
  if (parent.attribute.id === "copy") return called;
  const comprehension = called.parent;
  if (parent.attribute.id !== "items" || comprehension?.kind !== "Comprehension") return undefined;
  return comprehension.flavour === "dict" && isSameTensor(comprehension.element) ? comprehension : undefined;
}

/** `v`, `v.detach()`, `v.data`: the same storage. */
function isSameTensor(element: Expression): boolean {
  let at = element;
  for (;;) {
    if (at.kind === "Name") return true;
    if (at.kind === "Attribute" && at.attribute.id === "data") at = at.object;
    else if (at.kind === "Call" && at.callee.kind === "Attribute" && at.callee.attribute.id === "detach")
      at = at.callee.object;
    else return false;
  }
}

function check(context: RuleContext<MessageId>, kept: KeptState): void {
  if (isCopiedAtOnce(context, kept) || isGathered(kept.statement)) return;
  const reads = readsOfTarget(context.torch.resolve, kept.holder).filter(isConsumed(context));
  if (reads.length === 0) return;
  const found = keptDuring(context, kept, reads) ?? keptBefore(context, kept, reads);
  if (found === undefined) return;
  const { source } = context;
  const text = source.slice(kept.value);
  context.report({
    at: kept.value,
    message: found.message,
    values: { holder: source.slice(kept.holder), state: excerpt(source, kept.call) },
    related: [
      { at: found.trains, message: "trains" },
      { at: found.read, message: "used" },
    ],
    fixes:
      kept.value === kept.call
        ? [
            {
              title: "copy",
              safety: "review",
              edits: [replaceSpan(kept.value, copyOf(context, text))],
            },
          ]
        : [],
  });
}

function copyOf({ source }: RuleContext, state: string): string {
  const single = source.text.split("'").length > source.text.split('"').length;
  const cpu = single ? "'cpu'" : '"cpu"';
  return `{key: value.to(${cpu}, copy=True) for key, value in ${state}.items()}`;
}

interface Found {
  readonly message: "best" | "before";
  readonly trains: Node;
  readonly read: Expression;
}

/** Stored now and then in a loop that trains: under a condition, or in a list. */
function keptDuring(context: RuleContext, kept: KeptState, reads: readonly Expression[]): Found | undefined {
  const { torch } = context;
  const { reach } = torch.provenance;
  const own = [...ancestors(kept.statement)].filter(isLoop);
  // Saved or loaded at once: the variable is a helper.
  if (reads.some((one) => !isLater(kept, one))) return undefined;
  if (own.length === 0 && kept.how === "assigned" && !isNowAndThen(kept.statement, undefined))
    return undefined;
  if (!isModel(context, kept)) return undefined;
  const around = own.length > 0 ? own : reach.callingLoops(kept.statement);
  for (const loop of around) {
    const backward = backwardIn(torch.provenance, loop);
    if (backward === undefined) continue;
    if (isRebound(context, kept.model, loop) || (own.length > 0 && endsTraining(kept.statement)))
      return undefined;
    if (kept.how === "assigned" && !isNowAndThen(kept.statement, loop)) return undefined;
    if (kept.how === "appended" && isRebound(context, kept.holder, loop)) return undefined;
    const read = reads.find((one) => isBehind(loop, one));
    return read && { message: "best", trains: backward.call, read };
  }
  return undefined;
}

/** What trains in the loop: written in it, or in what it calls. A derivative that is taken there is a part of a loss. */
function backwardIn({ reach, backwards }: Provenance, loop: LoopNode): BackwardCall | undefined {
  const training = backwards.filter(({ call }) => /backward$/.test(lastName(call.callee) ?? ""));
  return (
    training.find(({ call }) => isWithin(call, loop)) ?? training.find(({ call }) => reach.runsIn(loop, call))
  );
}

/** Asked after all that stands in the text, since it may lead through every caller. */
function isModel({ torch }: RuleContext, { model }: KeptState): boolean {
  return torch.resolve.roleOf(model) === "model";
}

function isLoop(node: Node): node is LoopNode {
  return node.kind === "For" || node.kind === "While";
}

/** Kept before a loop that trains this very model, and loaded in it or behind it. */
function keptBefore(context: RuleContext, kept: KeptState, reads: readonly Expression[]): Found | undefined {
  const { torch } = context;
  const place = statementList(kept.statement);
  if (kept.how === "appended" || place === undefined) return undefined;
  const loops = place.list.slice(place.index + 1).filter(isLoop);
  if (loops.length === 0 || !isModel(context, kept) || !isTrained(context, kept.model)) return undefined;
  for (const statement of loops) {
    const backward = backwardIn(torch.provenance, statement);
    if (backward === undefined || isRebound(context, kept.model, statement)) continue;
    if (isRebound(context, kept.holder, statement)) return undefined;
    const read = reads.find(
      (one) =>
        one.start > statement.start &&
        isLoaded(one) &&
        enclosingFunction(one) === enclosingFunction(statement),
    );
    return read && { message: "before", trains: backward.call, read };
  }
  return undefined;
}

/** An optimizer is made with the model's parameters. */
function isTrained({ torch: { resolve } }: RuleContext, model: Expression): boolean {
  const key = resolve.keyOf(model);
  return (resolve.index.callsByName.get("parameters") ?? []).some(
    (call) =>
      call.callee.kind === "Attribute" &&
      key !== undefined &&
      resolve.keyOf(unwrapped(call.callee.object)) === key &&
      [...ancestors(call)].some((node) => node.kind === "Call" && resolve.roleOf(node) === "optimizer"),
  );
}

/** The variable is given another object in an iteration: the state belongs to an object that is not trained on. */
function isRebound({ torch }: RuleContext, variable: Expression, loop: LoopNode): boolean {
  const { resolve, provenance } = torch;
  if (variable.kind === "Name") {
    return resolve.scopes
      .lookup(variable)
      .some(
        ({ node, kind, value }) =>
          kind !== "parameter" && provenance.reach.runsIn(loop, node) && !isKept(resolve, variable, value),
      );
  }
  if (variable.kind !== "Attribute") return true;
  const key = resolve.keyOf(variable);
  return resolve.index.attributeStores.some(
    ({ target, statement, value }) =>
      target.kind === "Attribute" &&
      resolve.keyOf(target) === key &&
      provenance.reach.runsIn(loop, statement) &&
      !isKept(resolve, variable, value),
  );
}

/** `model = model.to(device)` and the kept state itself are no other object. */
function isKept(resolve: Resolver, variable: Expression, value: Expression | undefined): boolean {
  if (value?.kind !== "Call" || value.callee.kind !== "Attribute") return false;
  const { attribute, object } = value.callee;
  return /^(to|cuda|train|eval|cpu)$/.test(attribute.id) && resolve.keyOf(object) === resolve.keyOf(variable);
}

/** The block of the statement leaves the loop: nothing is trained any more. */
function endsTraining(statement: Statement): boolean {
  const last = statementList(statement)?.list.at(-1);
  return (
    last?.kind === "Break" || (last?.kind === "Return" && last.value !== undefined) || last?.kind === "Raise"
  );
}

/** Under a condition that compares, or asks for the best: the state of some iterations is meant. `undefined`: no loop is around. */
function isNowAndThen(statement: Statement, loop: LoopNode | undefined): boolean {
  let below: Node = statement;
  for (const node of ancestors(statement)) {
    if (node === loop) return false;
    if (node.kind === "If" && isChoosing(node) && node.test !== below) return true;
    below = node;
  }
  // In a helper that the loop calls the conditions of its own are all that was passed.
  return false;
}

function isChoosing({ test }: If): boolean {
  let found = false;
  walk(test, {
    enter(node) {
      if (node.kind === "Comparison" && node.operators.some((operator) => /^[<>]=?$/.test(operator)))
        found = true;
      const name = node.kind === "Name" ? node.id : node.kind === "Attribute" ? node.attribute.id : "";
      if (/best|improv|better/i.test(name)) found = true;
      return !found;
    },
  });
  return found;
}

/** The tensors are copied, or the state is saved, in the same block right behind: the name is a helper. */
function isCopiedAtOnce(context: RuleContext, kept: KeptState): boolean {
  const place = statementList(kept.statement);
  const key = context.torch.resolve.keyOf(kept.holder);
  return (place?.list.slice(place.index + 1) ?? []).some((statement) => {
    let copies = false;
    walk(statement, {
      enter(node) {
        if ((node.kind === "Name" || node.kind === "Attribute") && context.torch.resolve.keyOf(node) === key)
          copies ||= isCopying(node);
        return !copies;
      },
    });
    return copies;
  });
}

function isCopying(read: Expression): boolean {
  for (const node of ancestors(read)) {
    if (node.kind === "Call") {
      const name =
        node.callee.kind === "Attribute"
          ? node.callee.attribute.id
          : node.callee.kind === "Name"
            ? node.callee.id
            : "";
      if (/copy|clone|^cpu$|^to$/.test(name)) return true;
    }
    if (node.kind === "For" || node.kind === "Comprehension") return true;
    if (node.kind === "Assign") return isElementStore(node);
  }
  return false;
}

function isElementStore({ targets }: Assign): boolean {
  return targets.some(({ kind }) => kind === "Subscript");
}

/** `with FSDP.state_dict_type(…)`: the state is put together anew from the shards. */
function isGathered(statement: Statement): boolean {
  return [...ancestors(statement)].some(
    (node) =>
      node.kind === "With" &&
      node.items.some(
        ({ context }) =>
          context.kind === "Call" &&
          context.callee.kind === "Attribute" &&
          /state_dict_type|summon_full_params|GatheredParameters/.test(context.callee.attribute.id),
      ),
  );
}

/** Reads by which the state is loaded, saved or handed out. */
function isConsumed({ torch: { resolve } }: RuleContext): (read: Expression) => boolean {
  return (read) => {
    for (const node of ancestors(read)) {
      if (node.kind === "Return") return true;
      if (node.kind !== "Call") continue;
      if (node.callee.kind === "Attribute" && node.callee.attribute.id === "load_state_dict") return true;
      if (resolve.qualifiedName(node.callee) === "torch.save") return true;
    }
    return false;
  };
}

function isLoaded(read: Expression): boolean {
  return [...ancestors(read)].some(
    (node) =>
      node.kind === "Call" &&
      node.callee.kind === "Attribute" &&
      node.callee.attribute.id === "load_state_dict",
  );
}

/** Not before the loop in its own function. */
function isBehind(loop: LoopNode, read: Expression): boolean {
  return read.start > loop.start || enclosingFunction(read) !== enclosingFunction(loop);
}

/** Not in what runs right behind the statement in the same block: then a later iteration may come between. */
function isLater(kept: KeptState, read: Expression): boolean {
  const place = statementList(kept.statement);
  if (place === undefined) return false;
  return !place.list.slice(place.index).some((statement) => isWithin(read, statement));
}
