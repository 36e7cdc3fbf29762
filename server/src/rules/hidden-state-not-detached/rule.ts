/**
 * A recurrent state that goes from one iteration into the next together with its graph, in a loop whose iterations call
 * backward: the second backward walks into the graph that the first has freed.
 */
import type { ClassDefinition, Call, Expression, Node } from "../../python/tree";
import { enclosingFunction, enclosingLoop, enclosingStatement, walk } from "../../python/walk";
import { collectedStates, detachedList, holdsNone, type Collected } from "./collected";
import { beginsWithEpisode } from "./episodes";
import { headOf } from "../../torch/per-batch";
import type { BackwardCall } from "../../torch/provenance";
import { excerpt } from "../excerpt";
import { insertLineAfter, insertLineBefore } from "../fix";
import { defineRule, type Report, type RuleContext } from "../rule";
import { stateKeptByModel, type KeptState } from "./kept-by-model";

type MessageId =
  "freed" | "grows" | "keptFreed" | "keptGrows" | "loop" | "backward" | "detach" | "detachKept";
type Loop = NonNullable<ReturnType<typeof enclosingLoop>>;

export const rule = defineRule<MessageId>({
  name: "hidden-state-not-detached",
  group: "graph",
  level: "warning",
  summary: {
    en: "A recurrent state is carried into the next iteration with its graph.",
    "zh-cn": "循环网络的状态连同计算图被带入下一次迭代。",
  },
  messages: {
    freed: {
      en: '`{state}` goes into the next iteration with the graph of this one, whose activations `{backward}` has freed: the next backward walks into it and fails ("Trying to backward through the graph a second time"). Detach it at the start of the loop: `{fix}`.',
      "zh-cn":
        "`{state}` 带着本次迭代的计算图进入下一次迭代，而 `{backward}` 已释放了该计算图的激活：下一次 backward 会走进去并失败（“Trying to backward through the graph a second time”）。请在循环开头分离它：`{fix}`。",
    },
    grows: {
      en: '`{state}` goes into the next iteration with its graph, and `{backward}` retains it: every backward walks all iterations before it again. Memory and time grow with each one, or, where a step has changed the weights in between, the next backward fails ("modified by an inplace operation"). Detach it at the start of the loop: `{fix}`.',
      "zh-cn":
        "`{state}` 带着计算图进入下一次迭代，而 `{backward}` 保留了计算图：每次 backward 都要重新遍历之前的所有迭代。显存和时间因此逐次增长；如果其间有 step 改动了权重，下一次 backward 则会失败（“modified by an inplace operation”）。请在循环开头分离它：`{fix}`。",
    },
    keptFreed: {
      en: '`{state}` stays in the model with the graph of this iteration, whose activations `{backward}` has freed: the next backward walks into it and fails ("Trying to backward through the graph a second time"). Detach it where it is kept: `{fix}`.',
      "zh-cn":
        "`{state}` 带着本次迭代的计算图留在模型中，而 `{backward}` 已释放了该计算图的激活：下一次 backward 会走进去并失败（“Trying to backward through the graph a second time”）。请在保存它的地方分离：`{fix}`。",
    },
    keptGrows: {
      en: '`{state}` stays in the model with its graph, and `{backward}` retains it: every backward walks all iterations before it again. Memory and time grow with each one, or, where a step has changed the weights in between, the next backward fails ("modified by an inplace operation"). Detach it where it is kept: `{fix}`.',
      "zh-cn":
        "`{state}` 带着计算图留在模型中，而 `{backward}` 保留了计算图：每次 backward 都要重新遍历之前的所有迭代。显存和时间因此逐次增长；如果其间有 step 改动了权重，下一次 backward 则会失败（“modified by an inplace operation”）。请在保存它的地方分离：`{fix}`。",
    },
    loop: { en: "Each iteration takes it over from the one before.", "zh-cn": "每次迭代都从上一次接过它。" },
    backward: { en: "This backward walks its graph.", "zh-cn": "这次 backward 会遍历它的计算图。" },
    detachKept: { en: "Detach it: `{fix}`", "zh-cn": "分离它：`{fix}`" },
    detach: { en: "Detach it at the start of the loop: `{fix}`", "zh-cn": "在循环开头分离它：`{fix}`" },
  },
  create(context) {
    return {
      finish() {
        if (context.torch.provenance.backwards.length === 0) return;
        for (const call of context.torch.resolve.index.calls) {
          check(context, call);
          checkKept(context, call);
        }
      },
    };
  },
});

/** A state that a call takes and gives back. */
interface State {
  /** `hidden`, or `(h, c)`; several where they are given one by one. */
  readonly arguments: readonly Expression[];
  readonly reads: readonly Expression[];
  /** It begins as `None`, so the first iteration has nothing to detach. */
  readonly mayBeNone: boolean;
  /** One list of several layers' states. */
  readonly collected?: Collected | undefined;
  /** That list begins with `None` for a state. */
  readonly mayHoldNone?: boolean;
}

/** How a variable goes from one iteration to the next. */
type Carry = Pick<State, "mayBeNone" | "collected" | "mayHoldNone">;

function check(context: RuleContext<MessageId>, call: Call): void {
  if (enclosingLoop(call) === undefined || !isRecurrent(context, call)) return;
  const backward = backwardOver(context, call);
  if (backward === undefined) return;
  const loop = sharedLoop(call, backward.call);
  if (loop === undefined || !runsEachTime(loop, backward.call)) return;
  const state = stateOf(context, call, loop);
  if (state !== undefined) report(context, call, state, loop, backward);
}

/** The model keeps its state from call to call. */
function checkKept(context: RuleContext<MessageId>, call: Call): void {
  const kept = stateKeptByModel(context, call, detaches);
  if (kept === undefined) return;
  const layer = context.torch.resolve.objectOf(call.callee)?.className;
  if (layer === undefined || !recurrentLayers.test(layer)) return;
  const loop = sharedLoop(kept.forward, kept.backward.call);
  if (loop === undefined || !runsEachTime(loop, kept.backward.call)) return;
  reportKept(context, call, kept, loop, layer);
}

function reportKept(
  context: RuleContext<MessageId>,
  call: Call,
  { state, backward }: KeptState,
  loop: Loop,
  layer: string,
): void {
  const { source } = context;
  const name = source.slice(state);
  const fix = `${name} = ${layer.includes("LSTM") ? `tuple(part.detach() for part in ${name})` : `${name}.detach()`}`;
  const statement = enclosingStatement(call);
  const edit = statement && insertLineAfter(source, statement, fix);
  context.report({
    at: call,
    message: backward.retains === "no" ? "keptFreed" : "keptGrows",
    values: { state: name, backward: excerpt(source, backward.call), fix },
    related: [
      { at: headOf(loop), message: "loop" },
      { at: backward.call, message: "backward" },
    ],
    fixes: edit ? [{ title: "detachKept", values: { fix }, safety: "review", edits: [edit] }] : [],
  });
}

const recurrentLayers = /^torch\.nn\.(RNN|LSTM|GRU|RNNCell|LSTMCell|GRUCell)$/;

/** A recurrent layer, or a model of this file that holds one and does not detach by itself. */
function isRecurrent({ torch }: RuleContext<MessageId>, call: Call): boolean {
  const { resolve } = torch;
  if (resolve.qualifiedName(call.callee) !== undefined || givenTo(call).length < 2) return false;
  const object = resolve.objectOf(call.callee);
  if (object?.role !== "model" || object.certainty === "name") return false;
  if (object.className !== undefined && recurrentLayers.test(object.className)) return true;
  const owner = object.classDefinition;
  return owner !== undefined && holdsRecurrent(torch, owner) && !detaches(owner);
}

function holdsRecurrent({ resolve }: RuleContext["torch"], owner: ClassDefinition): boolean {
  return ["RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell"].some((name) =>
    resolve.index.callsByName
      .get(name)
      ?.some(
        (call) =>
          call.start > owner.start &&
          call.end < owner.end &&
          recurrentLayers.test(resolve.qualifiedName(call.callee) ?? ""),
      ),
  );
}

/** The arguments of a call; of `model((x, (h, c)))` the parts of the only one. */
function givenTo({ positional, keywords }: Call): readonly Expression[] {
  const [first, second] = positional;
  if (first?.kind === "Tuple" && second === undefined && keywords.length === 0) return first.elements;
  return [...positional, ...keywords.map(({ value }) => value)];
}

/** Anything in the class that cuts graphs: it may be the state's. */
function detaches(owner: ClassDefinition): boolean {
  let found = false;
  walk(owner, {
    enter(node) {
      if (node.kind === "Attribute" && /^(detach_?|data|no_grad|tolist|numpy)$/.test(node.attribute.id))
        found = true;
      return !found;
    },
  });
  return found;
}

/** The backward, in the same function, whose value the call is a part of. */
function backwardOver({ torch }: RuleContext<MessageId>, call: Call): BackwardCall | undefined {
  const around = enclosingFunction(call);
  return torch.provenance.backwards.find(
    (backward) =>
      backward.call.start > call.start &&
      enclosingFunction(backward.call) === around &&
      backward.values.some((value) => torch.provenance.graphCalls(value).has(call)),
  );
}

function sharedLoop(call: Call, backward: Call): Loop | undefined {
  const loops = new Set<Loop>();
  for (let at = enclosingLoop(call); at !== undefined; at = enclosingLoop(at)) loops.add(at);
  for (let at = enclosingLoop(backward); at !== undefined; at = enclosingLoop(at))
    if (loops.has(at)) return at;
  return undefined;
}

/** No condition and no way out between the loop and the backward. */
function runsEachTime(loop: Loop, backward: Call): boolean {
  for (let at: Node | undefined = backward.parent; at !== undefined && at !== loop; at = at.parent) {
    if (at.kind === "If" || at.kind === "Try" || at.kind === "Match") return false;
  }
  const last = loop.body.at(-1);
  return last?.kind !== "Break" && last?.kind !== "Return" && last?.kind !== "Raise";
}

/** All that the call takes and gives back: `h` and `c` of `model(x, h, c)` are one state. */
function stateOf(context: RuleContext<MessageId>, call: Call, loop: Loop): State | undefined {
  const found: State[] = [];
  for (const argument of givenTo(call).slice(1)) {
    const reads =
      argument.kind === "Tuple"
        ? argument.elements
        : argument.kind === "Name" || argument.kind === "Attribute"
          ? [argument]
          : [];
    if (reads.length === 0) continue;
    const states = reads.map((read) => carriesOver(context, call, read, loop));
    if (states.some((state) => state === undefined)) continue;
    const [first] = states;
    found.push({
      ...(states.length === 1 ? first : {}),
      arguments: [argument],
      reads,
      mayBeNone: states.some((state) => state?.mayBeNone),
    });
  }
  if (found.length < 2) return found[0];
  return {
    arguments: found.flatMap((state) => state.arguments),
    reads: found.flatMap(({ reads }) => reads),
    mayBeNone: found.some(({ mayBeNone }) => mayBeNone),
  };
}

/**
 * Whether the variable comes only from before the loop or out of this very call: every other assignment in the loop may
 * detach it or start it anew.
 */
function carriesOver(
  { torch }: RuleContext<MessageId>,
  call: Call,
  read: Expression,
  loop: Loop,
): Carry | undefined {
  const { flow, reach } = torch.provenance;
  const key = torch.resolve.keyOf(read);
  const reaching = flow.reaching(read);
  if (key === undefined || reaching === undefined) return undefined;
  let isGivenBack = false;
  let mayBeNone = false;
  let mayHoldNone = false;
  let collected: Collected | undefined;
  for (const one of reaching) {
    if (typeof one === "symbol") continue;
    if (one.value === call && one.kind === "assign") {
      collected = collectedStates(torch, call, one.path);
      if (collected === undefined && torch.provenance.carried(call, one.path).graph !== "yes")
        return undefined;
      isGivenBack = true;
    } else if (beginsWithEpisode(torch, one, key, loop)) continue;
    else if (reach.isInBody(loop, one.node) || one.node === loop) return undefined;
    else if (one.value?.kind === "None") mayBeNone = true;
    else if (holdsNone(one.value)) mayHoldNone = true;
  }
  if (!isGivenBack || isTouched(torch, key, loop, call)) return undefined;
  return { mayBeNone, collected, mayHoldNone };
}

/** In-place: `hidden.detach_()`, `hidden[0] = …`, or handed to a function that may do so. */
function isTouched(torch: RuleContext["torch"], key: string, loop: Loop, call: Call): boolean {
  const { flow, reach } = torch.provenance;
  const others = flow
    .definitionsOf(key)
    .filter((one) => reach.isInBody(loop, one.node) && one.value !== call);
  if (others.some((one) => !beginsWithEpisode(torch, one, key, loop))) return true;
  return flow.readsOf(key).some((read) => {
    if (!reach.isInBody(loop, read)) return false;
    const { parent } = read;
    if (parent?.kind === "Attribute") return /_$|^data$/.test(parent.attribute.id);
    if (parent?.kind === "Subscript")
      return parent.parent?.kind === "Assign" && parent.parent.targets.includes(parent);
    // `for state in hidden: state.detach_()`, `reset(hidden)`
    if (parent?.kind === "For" && parent.iterable === read) return true;
    if (parent?.kind === "Comprehension") return true;
    return parent?.kind === "Call" && parent !== call && torch.resolve.roleOf(parent.callee) !== "model";
  });
}

function report(
  context: RuleContext<MessageId>,
  call: Call,
  state: State,
  loop: Loop,
  backward: BackwardCall,
): void {
  const { source } = context;
  const fix = detaching(context, call, state);
  context.report({
    at: call,
    message: backward.retains === "no" ? "freed" : "grows",
    values: {
      state: state.arguments.map((argument) => excerpt(source, argument)).join(", "),
      backward: excerpt(source, backward.call),
      fix: fix.replace(/\s+/g, " "),
    },
    related: [
      { at: headOf(loop), message: "loop" },
      { at: backward.call, message: "backward" },
    ],
    fixes: fixesFor(context, fix, state, loop),
  });
}

/** `h = h.detach()`; a pair for an LSTM. */
function detaching({ source, torch }: RuleContext<MessageId>, call: Call, state: State): string {
  const [only, other] = state.reads;
  if (only === undefined || other !== undefined) {
    const names = state.reads.map((read) => source.slice(read));
    return `${names.join(", ")} = ${names.map((name) => `${name}.detach()`).join(", ")}`;
  }
  const name = source.slice(only);
  if (state.collected !== undefined) return detachedList(name, state.collected, state.mayHoldNone === true);
  return isPair(torch, call)
    ? `${name} = tuple(part.detach() for part in ${name})`
    : `${name} = ${name}.detach()`;
}

/** An LSTM gives its state as a pair. */
function isPair(torch: RuleContext["torch"], call: Call): boolean {
  const object = torch.resolve.objectOf(call.callee);
  if (/LSTM/.test(object?.className ?? "") && object?.classDefinition === undefined) return true;
  const owner = object?.classDefinition;
  if (owner === undefined) return false;
  const holds = (name: string): boolean =>
    [name, `${name}Cell`].some(
      (layer) =>
        torch.resolve.index.callsByName
          .get(layer)
          ?.some(({ start, end }) => start > owner.start && end < owner.end) === true,
    );
  return holds("LSTM") && !holds("GRU") && !holds("RNN");
}

function fixesFor(
  { source }: RuleContext<MessageId>,
  fix: string,
  state: State,
  loop: Loop,
): NonNullable<Report<MessageId>["fixes"]> {
  const [first] = loop.body;
  const [read] = state.reads;
  if (first === undefined || read === undefined) return [];
  const text = state.mayBeNone
    ? `if ${source.slice(read)} is not None:${source.lineEnd}${source.indentationAt(first.start)}    ${fix}`
    : fix;
  const edit = insertLineBefore(source, first, text);
  return edit === undefined ? [] : [{ title: "detach", values: { fix }, safety: "review", edits: [edit] }];
}
