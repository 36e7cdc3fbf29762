import type { Call, Expression, For, FunctionDefinition, Node, Span, While } from "../../python/tree";
import { someNode, walk } from "../../python/walk";
import { namesDevice } from "../../torch/gpu";
import { freezesParts } from "../../torch/may-be-frozen";
import type { EvaluationPass } from "../../torch/provenance";
import { loopOverData } from "../../torch/provenance/rounds";
import { argumentsOf, forwardReceiver } from "../../torch/provenance/shapes";
import { isMadeInHostMemory, staysOnCpu } from "../../torch/stays-on-cpu";
import { loaderOf } from "../../torch/training-loop/loader";
import { insertAt, wrapInWith } from "../fix";
import { isSmallGraph, sizeOfGraph } from "../graph-size";
import { unknownSize } from "../model-size";
import { contextCall, type ContextCall } from "../no-grad-context";
import { excerpt } from "../excerpt";
import { defineRule, oneLower, type Report, type RuleContext, type TextEdit } from "../rule";

type MessageId =
  | "evaluation"
  | "named"
  | "phase"
  | "setMode"
  | "evalCall"
  | "volatile"
  | "noGrad"
  | "inferenceMode"
  | "decorate";

/** An evaluation pass that runs the model's forward with gradients on. */
export const rule = defineRule<MessageId>({
  name: "eval-without-no-grad",
  group: "gradient-modes",
  level: "error",
  summary: {
    en: "An evaluation pass runs the model with gradients on.",
    "zh-cn": "评估过程在开启梯度的情况下运行模型。",
  },
  messages: {
    evaluation: {
      en: "`{call}` builds a graph although nothing here calls backward: {repeats, select, batch {each batch keeps} round {each iteration keeps} other {it keeps}} the activations that a backward would need{size, select, unknown {} other { ({size})}} as long as a tensor with that graph lives. {eval, select, yes {`eval()` does not turn gradients off; run} other {Run}} this under `torch.no_grad()`.",
      "zh-cn":
        "`{call}` 会建立计算图，但这里没有任何 backward：只要还有张量带着这个计算图，{repeats, select, batch {每个批次中} round {每次迭代中} other {}}反向传播所需的激活{size, select, unknown {} other {（{size}）}}就会一直保留。{eval, select, yes {`eval()` 不会关闭梯度；} other {}}请在 `torch.no_grad()` 下运行。",
    },
    named: {
      en: "If `{model}` is a model with trainable parameters: `{call}` builds a graph although nothing here calls backward, and {repeats, select, batch {each batch keeps} round {each iteration keeps} other {it keeps}} the activations that a backward would need as long as a tensor with that graph lives. {eval, select, yes {`eval()` does not turn gradients off; run} other {Run}} this under `torch.no_grad()`.",
      "zh-cn":
        "如果 `{model}` 是带有可训练参数的模型：`{call}` 会建立计算图，但这里没有任何 backward，只要还有张量带着这个计算图，{repeats, select, batch {每个批次中} round {每次迭代中} other {}}反向传播所需的激活就会一直保留。{eval, select, yes {`eval()` 不会关闭梯度；} other {}}请在 `torch.no_grad()` 下运行。",
    },
    phase: {
      en: "`{call}` also runs where `{test}` does not hold and no backward follows: it builds a graph there as in training, and {repeats, select, batch {each batch keeps} round {each iteration keeps} other {it keeps}} the activations that a backward would need{size, select, unknown {} other { ({size})}} as long as a tensor with that graph lives. `eval()` does not turn gradients off; run forward and loss under `torch.set_grad_enabled({test})`.",
      "zh-cn":
        "当 `{test}` 不成立、后面没有 backward 时，`{call}` 同样会执行：它会像训练时一样建立计算图，只要还有张量带着这个计算图，{repeats, select, batch {每个批次中} round {每次迭代中} other {}}反向传播所需的激活{size, select, unknown {} other {（{size}）}}就会一直保留。`eval()` 不会关闭梯度；请在 `torch.set_grad_enabled({test})` 下做前向传播并计算损失。",
    },
    evalCall: {
      en: "This switches dropout and batch normalisation to evaluation; gradients stay on.",
      "zh-cn": "这里把 dropout 和批归一化切换到评估模式；梯度仍然开启。",
    },
    volatile: {
      en: "`volatile` has had no effect since PyTorch 0.4.",
      "zh-cn": "自 PyTorch 0.4 起 `volatile` 不再起作用。",
    },
    setMode: { en: "Wrap in `with {context}:`", "zh-cn": "用 `with {context}:` 包裹" },
    noGrad: { en: "Wrap in `with {context}:`", "zh-cn": "用 `with {context}:` 包裹" },
    inferenceMode: { en: "Wrap in `with {context}:`", "zh-cn": "用 `with {context}:` 包裹" },
    decorate: { en: "Decorate `{name}` with `@{context}`", "zh-cn": "给 `{name}` 加上 `@{context}` 装饰器" },
  },
  create(context) {
    return {
      finish() {
        for (const pass of context.torch.provenance.evaluationPasses) report(pass, context);
      },
    };
  },
});

function report(pass: EvaluationPass, context: RuleContext<MessageId>): void {
  const repeated = pass.forwards.find((forward) => loopAround(forward, context.torch) !== undefined);
  const shown = repeated ?? pass.forwards[0];
  if (shown === undefined) return;
  const { source } = context;
  const named = pass.certainty === "name";
  const isTraining = pass.evalCall === undefined;
  context.report({
    at: shown,
    message: named ? "named" : pass.trainsWhere ? "phase" : "evaluation",
    values: {
      call: excerpt(source, shown),
      test: pass.trainsWhere ? source.slice(pass.trainsWhere) : "",
      model: excerpt(source, repeated === undefined ? pass.modelName : forwardReceiver(repeated)),
      repeats: repetitionOf(pass, context),
      eval: pass.evalCall ? "yes" : "no",
      size: named ? unknownSize : sizeOfGraph(shown, isTraining, context),
    },
    level:
      named || isBounded(pass, context) || isSmallGraph(shown, isTraining, context)
        ? oneLower("error")
        : "error",
    related: [
      ...(pass.evalCall ? [{ at: pass.evalCall, message: "evalCall" as const }] : []),
      ...volatileNear(pass).map((at) => ({ at, message: "volatile" as const })),
    ],
    fixes: pass.trainsWhere ? modeFix(pass, pass.trainsWhere, context) : fixesFor(pass, context),
  });
}

/**
 * A graph for nothing that is no second training step on the GPU: no batch after batch, neither here nor where a helper is
 * called, a model whose graph begins behind its frozen parts, or one that the script keeps on the CPU.
 */
function isBounded(pass: EvaluationPass, context: RuleContext<MessageId>): boolean {
  const { torch } = context;
  return (
    repetitionOf(pass, context) === "no" ||
    freezesParts(torch, pass.modelName, pass.model) ||
    (namesDevice(torch) && runsOnCpu(pass, context))
  );
}

function runsOnCpu({ forwards, modelName }: EvaluationPass, { torch }: RuleContext<MessageId>): boolean {
  const isCalledOnCpu = (forward: Call): boolean =>
    argumentsOf(forward).some((argument) => isMadeInHostMemory(torch, argument));
  return staysOnCpu(torch, modelName) || forwards.every(isCalledOnCpu);
}

/** What the loop around the forwards, or around a call that leads to them, goes through: batches where a loader is seen. */
function repetitionOf(
  { forwards, reachedBy = [], inner }: EvaluationPass,
  { torch }: RuleContext<MessageId>,
): "batch" | "round" | "no" {
  const [forward] = forwards;
  const calls = [...(inner ? [inner] : []), ...forwards];
  const loops = calls.flatMap((call) => loopAround(call, torch) ?? []);
  const [loop] = [...loops, ...reachedBy.flatMap((call) => loopAround(call, torch, forward) ?? [])];
  if (loop === undefined) return "no";
  return loop.kind === "For" && loaderOf(torch.resolve, loop) !== undefined && !countsOnly(loop.iterable)
    ? "batch"
    : "round";
}

function loopAround(
  call: Call,
  { resolve, provenance }: RuleContext["torch"],
  forward?: Call,
): For | While | undefined {
  return loopOverData(call, resolve, provenance.flow, forward);
}

/** `for step in range(n):`, `for i, _ in enumerate(range(n)):`: steps, samples or time, no batches. */
function countsOnly(iterable: Expression): boolean {
  return someNode(
    iterable,
    (node) =>
      node.kind === "Call" && node.callee.kind === "Name" && /^(range|trange|count)$/.test(node.callee.id),
  );
}

/** `with torch.set_grad_enabled(phase == "train"):` from the forward to the backward. */
function modeFix(
  pass: EvaluationPass,
  test: Expression,
  context: RuleContext<MessageId>,
): NonNullable<Report<MessageId>["fixes"]> {
  // The last of them holds the backward; an attack before it takes gradients in every round.
  if (context.torch.provenance.gradientUse.in(pass.statements.slice(0, -1))) return [];
  const call = contextCall("set_grad_enabled", context, context.source.slice(test));
  const edits = wrapping(pass, call, context);
  return edits ? [{ title: "setMode", values: { context: call.text }, safety: "review", edits }] : [];
}

function fixesFor(
  pass: EvaluationPass,
  context: RuleContext<MessageId>,
): NonNullable<Report<MessageId>["fixes"]> {
  const noGrad = contextCall("no_grad", context);
  const fixes: NonNullable<Report<MessageId>["fixes"]>[number][] = [];
  const generator = pass.statements.some((statement) => yields(statement));
  const wrapped = generator ? undefined : wrapping(pass, noGrad, context);
  if (wrapped)
    fixes.push({ title: "noGrad", values: { context: noGrad.text }, safety: "safe", edits: wrapped });
  if (pass.owner && mayDecorate(pass, pass.owner, context)) {
    const edits = [...decorating(pass.owner, noGrad.text, context), ...noGrad.edits];
    fixes.push({
      title: "decorate",
      values: { name: pass.owner.name.id, context: noGrad.text },
      safety: "review",
      edits,
    });
  }
  const inference = contextCall("inference_mode", context);
  const inInference = generator ? undefined : wrapping(pass, inference, context);
  if (inInference) {
    fixes.push({
      title: "inferenceMode",
      values: { context: inference.text },
      safety: "review",
      edits: inInference,
    });
  }
  return fixes;
}

/** `Variable(x, volatile=True)`, which switched gradients off up to PyTorch 0.3: somebody has thought of it. */
function volatileNear({ owner, statements }: EvaluationPass): Span[] {
  const found: Span[] = [];
  for (const node of owner ? [owner] : statements) {
    walk(node, {
      enter(at) {
        const given = at.kind === "Call" ? at.keywords.find(({ name }) => name.id === "volatile") : undefined;
        if (given !== undefined) found.push(given);
        return found.length === 0;
      },
    });
  }
  return found.slice(0, 1);
}

function wrapping(
  pass: EvaluationPass,
  call: ContextCall,
  context: RuleContext<MessageId>,
): TextEdit[] | undefined {
  const edits = wrapInWith(context.source, context.module, pass.statements, call.text);
  return edits && [...call.edits, ...edits];
}

function decorating(owner: FunctionDefinition, call: string, context: RuleContext<MessageId>): TextEdit[] {
  const { source } = context;
  const indentation = source.indentationAt(owner.definitionStart);
  return [insertAt(owner.definitionStart, `@${call}${source.lineEnd}${indentation}`)];
}

/** Nothing else of the function would lose its gradients: the pass is a stretch of its own block. */
function coversFunction(pass: EvaluationPass, owner: FunctionDefinition): boolean {
  return pass.statements.every((statement) => owner.body.includes(statement));
}

/** The whole function is the pass: it turns no gradients on itself, and it does not train before or after. */
function mayDecorate(
  pass: EvaluationPass,
  owner: FunctionDefinition,
  context: RuleContext<MessageId>,
): boolean {
  if (!coversFunction(pass, owner) || isSwitchedOn(pass, context)) return false;
  return !context.torch.provenance.gradientUse.inFunction(owner);
}

/** The function turns gradients on itself: a decorator around it would change nothing. */
function isSwitchedOn({ forwards: [first] }: EvaluationPass, { torch }: RuleContext<MessageId>): boolean {
  return first !== undefined && torch.provenance.modes.lexicallyAt(first) === "on";
}

/** `with` around a `yield` would switch gradients off for the caller while the generator waits. */
function yields(node: Node): boolean {
  let found = false;
  walk(node, {
    enter(at) {
      if (at.kind === "Yield") found = true;
      return at.kind !== "FunctionDefinition" && at.kind !== "Lambda";
    },
  });
  return found;
}
