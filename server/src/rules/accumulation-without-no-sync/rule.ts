/**
 * A DistributedDataParallel model reduces its gradients over all processes in every backward unless it runs under
 * `no_sync()` (`torch/nn/parallel/distributed.py`), also where the step waits for several.
 */
import type { Call, Expression, Node } from "../../python/tree";
import type { Resolver } from "../../torch/resolve";
import type { Accumulation, TraceEvent, TrainingLoop } from "../../torch/training-loop";
import { identify, modelKeys } from "../../torch/training-loop";
import { accumulatesSeveral, foundFromEveryBeginning, runsOutsideUpdate, stepsText } from "../accumulation";
import { defineRule, oneLower, type RuleContext } from "../rule";

type MessageId = keyof typeof messages;

const messages = {
  found: {
    en: "`{model}` is DistributedDataParallel: each of the `{k}` backwards of an update averages all gradients over the processes, though only the last one has to. Run the others, forward included, under `with {model}.no_sync():`.",
    "zh-cn":
      "`{model}` 是 DistributedDataParallel：一次更新的 `{k}` 次反向传播中，每一次都在所有进程间对全部梯度求平均，而其实只需最后一次。请在 `with {model}.no_sync():` 之下执行其余各次（包括前向传播）。",
  },
  wrapped: { en: "It is wrapped here.", "zh-cn": "在这里包装。" },
  guard: { en: "The step waits for this condition.", "zh-cn": "更新要等到这个条件成立。" },
  inner: {
    en: "This loop runs the backwards of one update.",
    "zh-cn": "这个循环执行同一次更新的多次反向传播。",
  },
};

export const rule = defineRule<MessageId>({
  name: "accumulation-without-no-sync",
  group: "accumulation",
  level: "information",
  summary: {
    en: "Gradients are reduced over all processes on every micro-batch.",
    "zh-cn": "每个微批次都在所有进程间归约梯度。",
  },
  messages,
  create: (context) => ({
    finish() {
      const wrappers = wrappersIn(context);
      if (wrappers.length === 0 || avoidsReduction(context)) return;
      const found = foundFromEveryBeginning(
        context,
        (loop) => reductions(context, loop, wrappers),
        ({ backward }) => backward.node,
      );
      for (const reduction of found) report(context, reduction);
    },
  }),
});

/** A DistributedDataParallel construction, what it wraps and what it is bound to. */
interface Wrapper {
  readonly call: Call;
  readonly keys: ReadonlySet<string>;
  readonly name: string;
}

interface Reduction {
  readonly loop: TrainingLoop;
  readonly accumulation: Accumulation;
  readonly backward: TraceEvent;
  readonly wrapper: Wrapper;
}

/** Apex's class of that name has no `no_sync`. */
const ddpClass = /^torch\.nn\.parallel\.DistributedDataParallel$/;
/** Ways to leave the reduction out, or to do it by other means. */
const alternatives =
  /^(no_sync|require_backward_grad_sync|no_backward_sync|register_comm_hook|delay_allreduce)$/;

function wrappersIn(context: RuleContext): Wrapper[] {
  const { resolve } = context.torch;
  const found: Wrapper[] = [];
  for (const call of resolve.callsOf((name) => ddpClass.test(name))) {
    if (searchesUnused(call)) continue;
    const targets = targetsOf(resolve, call);
    const wrapped = call.positional[0] ?? call.keywords.find(({ name }) => name.id === "module")?.value;
    const keys = new Set<string>();
    for (const expression of [...targets, ...(wrapped === undefined ? [] : [wrapped])]) {
      const key = resolve.keyOf(expression);
      if (key !== undefined) keys.add(key);
    }
    const [target] = targets;
    if (target !== undefined) found.push({ call, keys, name: context.source.slice(target) });
  }
  return found;
}

/** `find_unused_parameters=…` reduces by a traversal of each graph, and settings we cannot see may say so. */
function searchesUnused({ keywords, keywordSpreads }: Call): boolean {
  const isOn = ({ name, value }: Call["keywords"][number]): boolean =>
    /^(find_unused_parameters|delay_allreduce)$/.test(name.id) && !(value.kind === "Boolean" && !value.value);
  return keywordSpreads.length > 0 || keywords.some(isOn);
}

/** What the wrapped model is bound to, also through a helper that returns it. */
function targetsOf(resolve: Resolver, call: Call, depth = 0): Expression[] {
  let value: Node = call;
  while (value.parent?.kind === "Call" || value.parent?.kind === "Conditional") value = value.parent;
  const { parent } = value;
  if (parent?.kind === "Assign") return [...parent.targets];
  if (parent?.kind === "AnnotatedAssign") return [parent.target];
  if (parent?.kind !== "Return" || depth > 1) return [];
  const helper = resolve.enclosingFunction(parent);
  if (helper?.kind !== "FunctionDefinition") return [];
  return resolve.callsTo(helper).flatMap((caller) => targetsOf(resolve, caller, depth + 1));
}

function avoidsReduction({ torch }: RuleContext): boolean {
  const { index } = torch.resolve;
  // `model.module(x)`: the forward leaves the wrapper out, so this backward reduces nothing.
  if (index.callsByName.has("module") || torch.frameworks.made.length > 0) return true;
  const names = [...index.attributesByName.keys(), ...index.callsByName.keys()];
  return names.some((name) => alternatives.test(name));
}

function reductions(context: RuleContext, loop: TrainingLoop, wrappers: readonly Wrapper[]): Reduction[] {
  const { accumulation } = loop;
  const [step] = accumulation?.guardedSteps ?? [];
  if (accumulation === undefined || step?.subject === undefined || loop.framework !== undefined) return [];
  if (!accumulatesSeveral(context, accumulation)) return [];
  const { resolve } = context.torch;
  const trained = modelKeys(resolve, identify(resolve, step.subject, step.places));
  const wrapper = wrappers.find(({ keys }) =>
    [...keys].some((key) => trained.has(withoutModule(key, trained))),
  );
  if (wrapper === undefined) return [];
  const backward = loop.backwards.find((event) => runsOutsideUpdate(context, event, loop));
  return backward === undefined ? [] : [{ loop, accumulation, backward, wrapper }];
}

/** `model.module.parameters()` are those of `model`. */
function withoutModule(key: string, trained: ReadonlySet<string>): string {
  return trained.has(`${key}.module`) ? `${key}.module` : key;
}

function report(context: RuleContext<MessageId>, { accumulation, backward, wrapper, loop }: Reduction): void {
  context.report({
    at: backward.node,
    message: "found",
    values: { model: wrapper.name, k: stepsText(context, accumulation.steps) },
    ...(loop.certainty === "name" ? { level: oneLower("information") } : {}),
    related: [
      { at: wrapper.call, message: "wrapped" },
      { at: accumulation.node, message: accumulation.form === "micro-loop" ? "inner" : "guard" },
    ],
  });
}
