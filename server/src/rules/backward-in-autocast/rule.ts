/**
 * Backward inside an autocast region. https://docs.pytorch.org/docs/stable/amp.html#torch.autocast: "autocast should wrap
 * only the forward pass(es) … Backward passes under autocast are not recommended". Around a whole loop it is worse:
 * autocast keeps the low-precision copy of each weight until the region ends (torch/csrc and aten/src/ATen/
 * autocast_mode.cpp, `cached_casts`), and a step in place does not renew it.
 */
import { lastName } from "../../python/last-name";
import type { Call, Node, Statement } from "../../python/tree";
import { ancestors, isWithin, statementList, walk } from "../../python/walk";
import { autocastAround, type AutocastRegion } from "../../torch/autocast";
import { trainedCasts } from "../../torch/low-precision";
import { headOf } from "../../torch/per-batch";
import { isTestFile } from "../../torch/provenance/try-out";
import type { Resolver } from "../../torch/resolve";
import { dedentStatements } from "../fix";
import { excerpt } from "../excerpt";
import { defineRule, type Report, type RuleContext } from "../rule";

type MessageId = keyof typeof messages;

const messages = {
  backward: {
    en: "`{call}` runs inside `autocast`. Backward takes the dtypes of the forward operations by itself; inside the region the operations of hooks and custom backward functions are cast again, and the low-precision copies of the weights stay until the region ends. Let `autocast` wrap forward and loss only.",
    "zh-cn":
      "`{call}` 在 `autocast` 内执行。反向传播会自行沿用前向运算的数据类型；在区域内，钩子和自定义反向函数中的运算会再次被转换，权重的低精度副本也要到区域结束才释放。请让 `autocast` 只包住前向传播和损失。",
  },
  loop: {
    en: "`autocast` stays on over all iterations of this loop: it keeps the low-precision copy of each weight that it made in the first one, and `{step}` does not renew it. Every forward after the first computes with old weights. Enter `autocast` anew in each iteration, around forward and loss only.",
    "zh-cn":
      "`autocast` 在这个循环的所有迭代中一直开启：它会保留第一次迭代中为每个权重制作的低精度副本，而 `{step}` 不会更新它。第一次之后的每次前向传播都在用旧权重计算。请在每次迭代中重新进入 `autocast`，并只包住前向传播和损失。",
  },
  region: { en: "`autocast` begins here.", "zh-cn": "`autocast` 从这里开始。" },
  iterations: { en: "This loop lies inside it.", "zh-cn": "这个循环位于其中。" },
  dedent: { en: "Move the backward out of `autocast`", "zh-cn": "把反向传播移出 `autocast`" },
};

export const rule = defineRule<MessageId>({
  name: "backward-in-autocast",
  group: "precision",
  level: "warning",
  summary: {
    en: "Backward runs inside `autocast`, which should wrap forward and loss only.",
    "zh-cn": "反向传播在 `autocast` 内执行，而它只应包住前向传播和损失。",
  },
  messages,
  create: (context) => ({
    finish() {
      const { resolve, provenance, scopes } = context.torch;
      if (isTestFile(scopes)) return;
      if (!resolve.index.callsByName.has("autocast") && !resolve.index.namesById.has("autocast")) return;
      for (const { call } of provenance.ownBackwards) {
        if (!isBackward(call)) continue;
        const region = autocastAround(resolve, call);
        if (region !== undefined) report(context, call, region);
      }
    },
  }),
});

/** Not `autograd.grad`: a penalty on gradients belongs to the loss. */
function isBackward({ callee }: Call): boolean {
  const name = callee.kind === "Attribute" ? callee.attribute.id : "";
  return name === "backward" || name === "manual_backward";
}

function report(context: RuleContext<MessageId>, call: Call, region: AutocastRegion): void {
  const { source } = context;
  const loop = [...ancestors(call)].filter(isLoop).find((node) => isInside(node, region.node));
  const step = loop && stepIn(loop);
  if (loop !== undefined && step !== undefined && keepsCasts(context, region)) {
    context.report({
      at: call,
      message: "loop",
      level: "error",
      values: { step: source.slice(step.callee) },
      related: [
        { at: region.context, message: "region" },
        { at: headOf(loop), message: "iterations" },
      ],
    });
    return;
  }
  context.report({
    at: call,
    message: "backward",
    values: { call: excerpt(source, call) },
    related: [{ at: region.context, message: "region" }],
    fixes: fixes(context, call, region),
  });
}

function isInside(node: Node, region: Node): boolean {
  return node !== region && isWithin(node, region);
}

function isLoop(node: Node): node is Extract<Node, { kind: "For" | "While" }> {
  return node.kind === "For" || node.kind === "While";
}

/** The step of an optimizer or a scaler, as it is written in a loop. */
function stepIn(loop: Node): Call | undefined {
  let found: Call | undefined;
  walk(loop, {
    enter(node) {
      if (node.kind === "FunctionDefinition" || node.kind === "Lambda" || found !== undefined) return false;
      if (node.kind !== "Call" || node.callee.kind !== "Attribute" || node.callee.attribute.id !== "step")
        return true;
      const { object } = node.callee;
      const name =
        object.kind === "Name" ? object.id : object.kind === "Attribute" ? object.attribute.id : "";
      if (/opt|scaler/i.test(name) && !/sched/i.test(name)) found = node;
      return true;
    },
  });
  return found;
}

/** Without `cache_enabled=False`; weights in low precision are not cast at all. */
function keepsCasts({ torch }: RuleContext, { call }: AutocastRegion): boolean {
  if (call === undefined || call.positional.length > 2) return false;
  if (call.keywords.some(({ name }) => name.id === "cache_enabled")) return false;
  return !torch.resolve.index.callsByName.has("clear_autocast_cache") && trainedCasts(torch).length === 0;
}

/** The backward and what follows it in the region leave it, when nothing of it computes a forward. */
function fixes(
  context: RuleContext<MessageId>,
  call: Call,
  region: AutocastRegion,
): Report<MessageId>["fixes"] {
  const { source, module, torch } = context;
  const { node, item } = region;
  const statement = call.parent;
  if (node.kind !== "With" || item === undefined || statement?.kind !== "ExpressionStatement") return [];
  const place = statementList(statement);
  if (node.items.length > 1 || place?.list !== node.body || place.index === 0) return [];
  const rest = node.body.slice(place.index);
  if (!rest.every((one) => isUpdate(torch.resolve, one))) return [];
  const edits = dedentStatements(source, module, rest);
  return edits ? [{ title: "dedent", safety: "safe", edits }] : [];
}

const updates: ReadonlySet<string> = new Set([
  "backward",
  "manual_backward",
  "step",
  "update",
  "zero_grad",
  "unscale_",
  "clip_grad_norm_",
  "clip_grad_value_",
  "print",
]);

/** A statement that computes nothing which autocast would cast. */
function isUpdate(resolve: Resolver, statement: Statement): boolean {
  if (statement.kind !== "ExpressionStatement" || statement.expression.kind !== "Call") return false;
  const { callee, positional } = statement.expression;
  const name = lastName(callee) ?? "";
  return (
    updates.has(name) &&
    !positional.some((argument) => argument.kind === "Call" && callsModel(resolve, argument))
  );
}

function callsModel(resolve: Resolver, call: Call): boolean {
  return resolve.roleOf(call.callee) === "model" || resolve.roleOf(call.callee) === "loss-module";
}
