/** How large the graph of a model's forward is, for messages; nothing is evaluated before a rule asks. */
import type { BatchGraph } from "../memory/estimate";
import { formatBytes } from "../memory/units";
import { sizeTexts } from "../messages/findings";
import { message, type MessageValue } from "../messages/message";
import type { Call, ClassDefinition, Node } from "../python/tree";
import type { RuleContext } from "./rule";

/** What `{size, select, unknown {} …}` of a message leaves out. */
const unknown = "unknown";

/** The graph that one call of the model builds: the value `size` of a message. */
export function sizeOfGraph(forward: Node, isTraining: boolean, context: RuleContext): MessageValue {
  const graph = graphOf(forward, isTraining, context);
  if (graph === undefined) return unknown;
  const values = { size: formatBytes(graph.bytes), batch: graph.batch };
  return message(graph.complete ? sizeTexts.graph : sizeTexts.graphAtLeast, values);
}

/**
 * What each iteration adds when it keeps a graph that begins with this call: at least the forward's, since the loss is
 * not in it. With a device or a budget, also how many iterations that can go on for at most.
 */
export function sizeOfKeptGraph(forward: Node, isTraining: boolean, context: RuleContext): MessageValue {
  const graph = graphOf(forward, isTraining, context);
  if (graph === undefined) return unknown;
  const { bytes, batch, limit, fitting, isDevice } = graph;
  const values = { size: formatBytes(bytes), batch };
  if (limit === undefined || fitting === undefined) return message(sizeTexts.kept, values);
  const text = isDevice ? sizeTexts.keptUntilDevice : sizeTexts.keptUntilBudget;
  return message(text, { ...values, limit: formatBytes(limit), count: fitting });
}

/** The graph of a call of the trained model; undefined for any other model. */
function graphOf(forward: Node, isTraining: boolean, context: RuleContext): BatchGraph | undefined {
  if (forward.kind !== "Call") return undefined;
  const called = context.torch.resolve.objectOf(forward.callee)?.classDefinition;
  if (called === undefined || isMadeInTwoWays(called, context)) return undefined;
  const { estimates } = context;
  const graph = estimates.batchGraph?.(isTraining);
  if (graph === undefined) return undefined;
  return estimates.all()[0]?.classSpan?.start === called.name.start ? graph : undefined;
}

/** A student and a teacher of one class: which of the two is called is not told apart. */
function isMadeInTwoWays(definition: ClassDefinition, { torch, source }: RuleContext): boolean {
  const { resolve } = torch;
  const texts = resolve.index.calls
    .filter((call: Call) => resolve.constructedClass(call) === definition)
    .map((call: Call) => source.slice(call).replaceAll(/\s+/g, ""));
  return new Set(texts).size > 1;
}
