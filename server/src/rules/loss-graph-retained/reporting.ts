/** What the two rules about kept graphs say alike: where, which lines matter, which fixes. */
import { message } from "../../messages/message";
import type { MessageText, MessageValue } from "../../messages/message";
import type { Source } from "../../python/source";
import type { Expression, Node, Span } from "../../python/tree";
import { enclosingStatement, isWithin } from "../../python/walk";
import type { KeptValue } from "../../torch/provenance";
import { excerpt } from "../excerpt";
import { joinsIn } from "../joined";
import { pileOf } from "../outputs-kept-on-device/piles";
import type { Report, RuleContext } from "../rule";
import { severingOf } from "./severing";

/** What to keep instead, without the sentence's end. */
const adviceTexts = {
  number: {
    en: "Keep the number (`.item()`) or a detached tensor (`.detach()`)",
    "zh-cn": "请只保留数值（`.item()`）或分离后的张量（`.detach()`）",
  },
  tensor: { en: "Keep a detached tensor (`.detach()`)", "zh-cn": "请只保留分离后的张量（`.detach()`）" },
  onHost: {
    en: "Keep a detached copy in host memory (`.detach().cpu()`)",
    "zh-cn": "请只在主机内存中保留分离后的副本（`.detach().cpu()`）",
  },
} satisfies Record<string, MessageText>;

export type KeptMessage =
  "made" | "loop" | "hook" | "freed" | "returned" | "stored" | "item" | "detach" | "detachToCpu";

/** Texts of related places and fixes. */
export const keptMessages = {
  made: { en: "The graph begins here.", "zh-cn": "计算图从这里开始。" },
  loop: { en: "Each iteration of this loop adds one.", "zh-cn": "这个循环的每次迭代都会再增加一个。" },
  hook: { en: "Each batch calls this and adds one.", "zh-cn": "每个批次都会调用这里，并再增加一个。" },
  returned: {
    en: "The framework's backward of this loss frees the activations of the graph.",
    "zh-cn": "框架对这个损失执行的 backward 会释放计算图中的激活。",
  },
  freed: {
    en: "This backward frees the activations of the graph.",
    "zh-cn": "这次 backward 会释放计算图中的激活。",
  },
  stored: { en: "It is kept here.", "zh-cn": "它在这里被保留下来。" },
  item: { en: "Keep the number only: `.item()`", "zh-cn": "只保留数值：`.item()`" },
  detach: {
    en: "Keep the value without its graph: `.detach()`",
    "zh-cn": "保留数值但去掉计算图：`.detach()`",
  },
  detachToCpu: {
    en: "Keep the value in host memory: `.detach().cpu()`",
    "zh-cn": "把数值保留在主机内存中：`.detach().cpu()`",
  },
} as const;

/** Where the finding stands: the kept value, or its statement when that begins on an earlier line. */
export function placeOf(kept: KeptValue, context: RuleContext): Span {
  const { source } = context;
  const statement = kept.through ?? kept.store.statement;
  return source.lineOf(kept.value.start) === source.lineOf(statement.start) ? kept.value : statement;
}

/** A short text of what is kept: `loss` of `losses += [loss]` and of `total = total + loss`. */
export function keptText({ value, store }: KeptValue, { source }: RuleContext): string {
  return excerpt(source, addendOf(value, source.slice(store.holder), source));
}

function addendOf(value: Node, holder: string, source: Source): Node {
  if (value.kind === "List") {
    const [only, another] = value.elements;
    return only !== undefined && another === undefined ? only : value;
  }
  if (value.kind !== "BinaryOperation" || value.operator !== "+") return value;
  if (source.slice(value.left) === holder) return value.right;
  return source.slice(value.right) === holder ? value.left : value;
}

/** What to keep instead: the value `advice` of a message. A number is advised only where the fix keeps one. */
export function adviceFor(kept: KeptValue, context: RuleContext): MessageValue {
  const { item, scalars } = severingOf(kept, context.torch);
  if (item) return message(adviceTexts.number);
  return message(!scalars && pilesUp(kept, context) ? adviceTexts.onHost : adviceTexts.tensor);
}

/** What keeps the value, as the place of the finding names it: `meter` of `meter.update(loss)`, not its `self.sum`. */
export function holderOf({ store, through }: KeptValue, { source }: RuleContext): string {
  const { holder } = store;
  const isOwn = holder.kind === "Attribute" && isSelf(holder.object);
  const receiver = through?.callee.kind === "Attribute" ? through.callee.object : undefined;
  return excerpt(source, isOwn && receiver !== undefined && !isSelf(receiver) ? receiver : holder);
}

function isSelf(expression: Expression): boolean {
  return expression.kind === "Name" && expression.id === "self";
}

export function relatedTo(
  kept: KeptValue,
  context: RuleContext,
): NonNullable<Report<KeptMessage>["related"]> {
  const { source } = context;
  const related: { at: Span; message: KeptMessage }[] = [];
  const [made] = kept.carried.sources;
  if (made && !overlaps(made, kept.value)) related.push({ at: made, message: "made" });
  const isHook = kept.loop.kind === "FunctionDefinition";
  related.push({ at: headOf(kept.loop, context), message: isHook ? "hook" : "loop" });
  if (kept.freedBy) related.push(freeing(kept.freedBy));
  if (kept.through) related.push({ at: kept.store.statement, message: "stored" });
  return related.filter(({ at }) => source.lineOf(at.start) !== -1);
}

function freeing(freedBy: NonNullable<KeptValue["freedBy"]>): { at: Span; message: KeptMessage } {
  if ("call" in freedBy) return { at: freedBy.call, message: "freed" };
  return { at: freedBy.returned, message: "returned" };
}

/** The first line of a loop, without its body. */
function headOf(loop: KeptValue["loop"], context: RuleContext): Span {
  const end = context.source.lineStart(context.source.lineOf(loop.start) + 1);
  return { start: loop.start, end: loop.start + context.source.text.slice(loop.start, end).trimEnd().length };
}

function overlaps(node: Node, value: Span): boolean {
  const statement = enclosingStatement(node);
  return statement !== undefined && isWithin(value, statement);
}

export function fixesFor(kept: KeptValue, context: RuleContext): NonNullable<Report<KeptMessage>["fixes"]> {
  const severing = severingOf(kept, context.torch);
  const fixes: NonNullable<Report<KeptMessage>["fixes"]>[number][] = [];
  if (severing.item) fixes.push({ title: "item", safety: "safe", edits: severing.item });
  // What is joined to one tensor behind the loop would pile up on the GPU without its graph as well.
  if (severing.detach && (severing.scalars || !pilesUp(kept, context))) {
    fixes.push({ title: "detach", safety: severing.tensors ? "safe" : "review", edits: severing.detach });
  }
  if (severing.detachToCpu && !severing.scalars) {
    fixes.push({ title: "detachToCpu", safety: "review", edits: severing.detachToCpu });
  }
  return fixes;
}

function pilesUp({ store }: KeptValue, context: RuleContext): boolean {
  return pileOf(context, store, joinsIn(context.torch)) !== undefined;
}
