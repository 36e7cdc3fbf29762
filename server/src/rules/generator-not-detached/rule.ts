/**
 * The discriminator's backward walks through the generator: it keeps the generator's activations for nothing, and leaves
 * gradients on weights that this step does not update.
 */
import { message } from "../../messages/message";
import type { MessageText } from "../../messages/message";
import { lastName } from "../../python/last-name";
import type { Call, Expression, Node, Statement } from "../../python/tree";
import { enclosingFunction, enclosingStatement, isWithin } from "../../python/walk";
import { isDifferentiatedBy, mayBeFrozen } from "../../torch/may-be-frozen";
import { modelOwnership } from "../../torch/ownership";
import { atEntry } from "../../torch/provenance/flow";
import { forwardReceiver } from "../../torch/provenance/shapes";
import { readsOfTarget } from "../../torch/reads";
import type { TraceEvent, TrainingLoop } from "../../torch/training-loop";
import { excerpt } from "../excerpt";
import { insertAt, wrapInWith } from "../fix";
import { contextCall, type ContextCall } from "../no-grad-context";
import { defineRule, type Report, type RuleContext } from "../rule";

type MessageId = "walked" | "made" | "used" | "backward" | "step" | "detach" | "wrap";

/** What to write instead, without the sentence's end. */
const adviceTexts = {
  detach: {
    en: "{reads, plural, one {Pass `{argument}.detach()`} =2 {Use `{argument}.detach()` in both places} other {Use `{argument}.detach()` in all {reads} places}}",
    "zh-cn":
      "{reads, plural, one {请传入 `{argument}.detach()`} other {这 {reads} 处都请使用 `{argument}.detach()`}}",
  },
  noGrad: {
    en: "No other step reads it: make it under `{context}`",
    "zh-cn": "其他步骤不读取它：请在 `{context}` 下生成它",
  },
} satisfies Record<string, MessageText>;

export const rule = defineRule<MessageId>({
  name: "generator-not-detached",
  group: "gradient-modes",
  level: "warning",
  summary: {
    en: "The discriminator's step runs its backward through the generator.",
    "zh-cn": "判别器的更新步骤把 backward 一直传到了生成器。",
  },
  messages: {
    walked: {
      en: "`{argument}` brings the graph of `{generator}` into the loss of this step, but `{optimizer}` does not update `{generator}`: `{backward}` walks through `{generator}` as well and computes gradients for its weights, which stay in their `.grad` until somebody zeroes them. {advice}.",
      "zh-cn":
        "`{argument}` 把 `{generator}` 的计算图带进了这一步的损失，但 `{optimizer}` 并不更新 `{generator}`：`{backward}` 还会穿过 `{generator}` 并为它的权重计算梯度，这些梯度会留在 `.grad` 中直到被清零。{advice}。",
    },
    made: { en: "The graph begins here.", "zh-cn": "计算图从这里开始。" },
    backward: { en: "This backward walks it.", "zh-cn": "这次 backward 会遍历它。" },
    step: { en: "This step does not update it.", "zh-cn": "这一步并不更新它。" },
    used: { en: "It is used here too.", "zh-cn": "这里也用到了它。" },
    wrap: { en: "Make it in `with {context}:`", "zh-cn": "在 `with {context}:` 中生成它" },
    detach: { en: "Use it without its graph: `.detach()`", "zh-cn": "去掉计算图后再使用：`.detach()`" },
  },
  create(context) {
    return {
      finish() {
        const { torch } = context;
        // Two optimizers at least: without a look at the loops in all other files.
        if (torch.provenance.backwards.length < 2) return;
        const reported = new Set<Node>();
        for (const loop of torch.trainingLoops.loops) {
          if (loop.steps.length < 2 || loop.framework !== undefined) continue;
          for (const backward of loop.backwards) check(context, loop, backward, reported);
        }
      },
    };
  },
});

function check(
  context: RuleContext<MessageId>,
  loop: TrainingLoop,
  backward: TraceEvent,
  reported: Set<Node>,
): void {
  const steps = stepsOf(loop, backward);
  if (steps.length === 0 || backward.subject === undefined) return;
  const walked = context.torch.provenance.graphCalls(backward.subject);
  const calls = [...walked].sort((one, other) => one.start - other.start);
  for (const call of calls) {
    if (call.kind !== "Call" || !isOwned(context, steps, call)) continue;
    const found = generatorIn(context, loop, backward, steps, call);
    if (found === undefined || reported.has(found.argument)) continue;
    if (servesItsStep(context, loop, backward, call, found.generator)) continue;
    const reads = readsToDetach(context, loop, backward, found);
    for (const read of reads) reported.add(read);
    report(context, found, reads, backward, steps);
  }
}

/** The steps that apply the gradients of a backward: those up to the next backward behind them. */
function stepsOf({ events }: TrainingLoop, backward: TraceEvent): readonly TraceEvent[] {
  const steps: TraceEvent[] = [];
  for (const event of events.slice(events.indexOf(backward) + 1)) {
    if (event.kind === "optimizer-step") steps.push(event);
    else if (event.kind === "backward" && steps.length > 0) break;
  }
  return steps;
}

/** The model that is called is what the steps update. */
function isOwned({ torch }: RuleContext<MessageId>, steps: readonly TraceEvent[], call: Call): boolean {
  if (torch.resolve.roleOf(forwardReceiver(call)) !== "model") return false;
  const ownership = modelOwnership(torch);
  return steps.some(
    ({ subject }) => subject !== undefined && ownership.owns(subject, forwardReceiver(call)) === "owned",
  );
}

interface Found {
  readonly argument: Expression;
  readonly generator: Call;
}

/** An argument of the discriminator that hangs on a model which another step of the loop updates. */
function generatorIn(
  context: RuleContext<MessageId>,
  loop: TrainingLoop,
  backward: TraceEvent,
  steps: readonly TraceEvent[],
  call: Call,
): Found | undefined {
  const { torch } = context;
  const { provenance } = torch;
  const ownership = modelOwnership(torch);
  if (call.keywords.some(({ name }) => /detach|stop_?grad/i.test(name.id))) return undefined;
  for (const argument of call.positional) {
    // `autograd.grad(score, images)` for a penalty needs images that carry a graph.
    if (isDifferentiatedBy(torch, argument) || isPenalised(context, argument, backward)) continue;
    for (const source of sourcesOnTheWay(context, backward, argument)) {
      if (source.kind !== "Call" || torch.resolve.objectOf(forwardReceiver(source))?.role !== "model")
        continue;
      if (provenance.gradientMode(source) !== "on" || mayBeFrozen(torch, forwardReceiver(source))) continue;
      const foreign = steps.every(
        ({ subject }) =>
          subject !== undefined && ownership.owns(subject, forwardReceiver(source)) === "not-owned",
      );
      const itsStep = loop.steps.some(
        ({ subject }) =>
          subject !== undefined && ownership.owns(subject, forwardReceiver(source)) === "owned",
      );
      if (foreign && itsStep) return { argument, generator: source };
    }
  }
  return undefined;
}

/**
 * `gradient_penalty(critic, real, images)`: what is differentiated there is mixed of the images, so that the loss goes through
 * the generator anyway, and may fail without.
 */
function isPenalised({ torch }: RuleContext<MessageId>, argument: Expression, backward: TraceEvent): boolean {
  const { resolve, provenance } = torch;
  const key = argument.kind === "Name" ? resolve.keyOf(argument) : undefined;
  if (key === undefined) return false;
  return provenance.flow.readsOf(key).some((read) => {
    const { parent } = read;
    if (read === argument || read.end > backward.node.start || parent?.kind !== "Call") return false;
    if (parent.callee === read) return false;
    if (/penal/i.test(lastName(parent.callee) ?? "")) return true;
    const target = resolve.functionOf(parent);
    return (
      target !== undefined &&
      (resolve.index.callsByName.get("grad") ?? []).some((call) => isWithin(call, target))
    );
  });
}

/** Where the graph of an argument begins. What callers off the way to this backward give to a parameter is no part of its loss. */
function sourcesOnTheWay(
  { torch }: RuleContext<MessageId>,
  backward: TraceEvent,
  argument: Expression,
): ReadonlySet<Node> {
  const { resolve, provenance } = torch;
  const way = new Set<Node | undefined>([enclosingFunction(backward.node)]);
  for (const place of backward.places) if (place.kind === "call") way.add(enclosingFunction(place.call));
  const found = new Set<Node>();
  const seen = new Set<Expression>();
  const pending = [{ value: argument, path: [] as Parameters<typeof provenance.carriedHere>[1] }];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (seen.has(at.value)) continue;
    seen.add(at.value);
    const { sources, parameters } = provenance.carriedHere(at.value, at.path);
    for (const source of sources) found.add(source);
    for (const { owner, name, path } of parameters) {
      for (const caller of resolve.callsTo(owner)) {
        const value = resolve.argumentFor(caller, owner, name);
        if (value !== undefined && way.has(enclosingFunction(caller))) pending.push({ value, path });
      }
    }
  }
  return found;
}

/**
 * Every place up to the backward that brings the generator's graph into the loss: detaching one of two would leave it there.
 * Just the argument where the same images also serve the generator's own step, which needs the graph in the others.
 */
function readsToDetach(
  { torch }: RuleContext<MessageId>,
  loop: TrainingLoop,
  backward: TraceEvent,
  { argument, generator }: Found,
): readonly Expression[] {
  const key = argument.kind === "Name" ? torch.resolve.keyOf(argument) : undefined;
  if (key === undefined || servesItsStep({ torch }, loop, backward, generator, generator)) return [argument];
  const { flow } = torch.provenance;
  const [made, ...others] = flow.reaching(argument) ?? [];
  if (made === undefined || others.length > 0) return [argument];
  const owner = enclosingFunction(argument);
  return flow.readsOf(key).filter((read) => {
    if (read === argument) return true;
    if (read.start < generator.end || read.end > backward.node.start) return false;
    if (enclosingFunction(read) !== owner || !(flow.reaching(read) ?? []).includes(made)) return false;
    return !isPartOnly(read) && !isDifferentiatedBy(torch, read);
  });
}

/** `images.detach()`, `images.data`, `images.shape`: the graph ends there already. */
function isPartOnly({ parent }: Expression): boolean {
  return parent?.kind === "Attribute" && /^(detach|data|shape|size|device|dtype)$/.test(parent.attribute.id);
}

/** The same pass of the discriminator also serves the generator's step: detaching would cut that off. */
function servesItsStep(
  { torch }: Pick<RuleContext<MessageId>, "torch">,
  loop: TrainingLoop,
  backward: TraceEvent,
  call: Call,
  generator: Call,
): boolean {
  const ownership = modelOwnership(torch);
  return loop.backwards.some((other) => {
    if (other.node === backward.node || other.subject === undefined) return false;
    const trains = stepsOf(loop, other).some(
      ({ subject }) =>
        subject !== undefined && ownership.owns(subject, forwardReceiver(generator)) !== "not-owned",
    );
    return trains && torch.provenance.graphCalls(other.subject).has(call);
  });
}

function report(
  context: RuleContext<MessageId>,
  { argument, generator }: Found,
  reads: readonly Expression[],
  backward: TraceEvent,
  steps: readonly TraceEvent[],
): void {
  const { source } = context;
  const [step] = steps;
  if (step?.subject === undefined) return;
  const alone = madeForThisStepAlone(context, argument, generator, reads);
  const noGrad = alone === undefined ? undefined : contextCall("no_grad", context);
  const quoted = excerpt(source, argument);
  context.report({
    at: argument,
    message: "walked",
    values: {
      argument: quoted,
      generator: excerpt(source, forwardReceiver(generator)),
      optimizer: excerpt(source, step.subject),
      backward: excerpt(source, backward.node),
      advice:
        noGrad === undefined
          ? message(adviceTexts.detach, { argument: quoted, reads: reads.length })
          : message(adviceTexts.noGrad, { context: noGrad.text }),
    },
    related: [
      ...(argument === generator ? [] : [{ at: generator, message: "made" as const }]),
      ...reads.filter((read) => read !== argument).map((at) => ({ at, message: "used" as const })),
      { at: backward.node, message: "backward" },
      { at: step.node, message: "step" },
    ],
    fixes:
      alone === undefined || noGrad === undefined
        ? detaching(reads)
        : wrapping(context, alone, noGrad, reads),
  });
}

/**
 * The statement that makes what only this step reads. Used detached, its variable would keep the graph, with the
 * generator's activations, through the generator's own step.
 */
function madeForThisStepAlone(
  { torch }: RuleContext<MessageId>,
  argument: Expression,
  generator: Call,
  reads: readonly Expression[],
): Statement | undefined {
  const statement = enclosingStatement(generator);
  if (argument.kind !== "Name" || statement?.kind !== "Assign" || statement.value !== generator)
    return undefined;
  const [target, another] = statement.targets;
  if (target?.kind !== "Name" || another !== undefined) return undefined;
  const { flow } = torch.provenance;
  const [made, ...others] = flow.reaching(argument) ?? [];
  // By another name (`fakes = images`) it is read elsewhere too.
  if (made === undefined || made === atEntry || made.node !== statement || others.length > 0)
    return undefined;
  const isOfThisStep = (read: Expression): boolean => {
    if (reads.includes(read) || isPartOnly(read)) return true;
    const reaching = flow.reaching(read);
    return reaching !== undefined && !reaching.includes(made);
  };
  return readsOfTarget(torch.resolve, target).every(isOfThisStep) ? statement : undefined;
}

function wrapping(
  { source, module }: RuleContext<MessageId>,
  statement: Statement,
  { text, edits }: ContextCall,
  reads: readonly Expression[],
): NonNullable<Report<MessageId>["fixes"]> {
  const wrapped = wrapInWith(source, module, [statement], text);
  if (wrapped === undefined) return detaching(reads);
  return [{ title: "wrap", values: { context: text }, safety: "review", edits: [...edits, ...wrapped] }];
}

function detaching(reads: readonly Expression[]): NonNullable<Report<MessageId>["fixes"]> {
  if (reads.some(({ kind }) => !/^(Name|Call|Attribute|Subscript)$/.test(kind))) return [];
  return [{ title: "detach", safety: "review", edits: reads.map((read) => insertAt(read.end, ".detach()")) }];
}
