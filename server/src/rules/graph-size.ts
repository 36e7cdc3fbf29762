/** How large the graph of a model's forward is, for messages; nothing is evaluated before a rule asks. */
import type { BatchGraph } from "../memory/estimate";
import { formatBytes } from "../memory/units";
import { sizeTexts } from "../messages/findings";
import { message, type MessageValue } from "../messages/message";
import type { Node } from "../python/tree";
import { isAt, unknownSize, whichModel } from "./model-size";
import type { RuleContext } from "./rule";

/** The graph that one call of the model builds, of a batch of the training unless another is given: `size` of a message. */
export function sizeOfGraph(
  forward: Node,
  isTraining: boolean,
  context: RuleContext,
  batch?: number,
): MessageValue {
  const graph = graphOf(forward, isTraining, context, batch);
  if (graph === undefined) return unknownSize;
  const values = { size: formatBytes(graph.bytes), batch: graph.batch };
  return message(graph.complete ? sizeTexts.graph : sizeTexts.graphAtLeast, values);
}

/** The least that the graph of a loss holds which begins with this call: the forward's, since the loss is not in it. */
export function leastGraphBehind(forward: Node, isTraining: boolean, context: RuleContext): MessageValue {
  const graph = graphOf(forward, isTraining, context);
  if (graph === undefined) return unknownSize;
  return message(sizeTexts.graphAtLeast, { size: formatBytes(graph.bytes), batch: graph.batch });
}

/**
 * What each iteration adds when it keeps a graph that begins with this call: at least the forward's, since the loss is
 * not in it. With a device or a budget, also how many iterations that can go on for at most.
 */
export function sizeOfKeptGraph(forward: Node, isTraining: boolean, context: RuleContext): MessageValue {
  const graph = graphOf(forward, isTraining, context);
  if (graph === undefined) return unknownSize;
  const { bytes, batch, limit, fitting, isDevice } = graph;
  const values = { size: formatBytes(bytes), batch };
  if (limit === undefined || fitting === undefined) return message(sizeTexts.kept, values);
  const text = isDevice ? sizeTexts.keptUntilDevice : sizeTexts.keptUntilBudget;
  return message(text, { ...values, limit: formatBytes(limit), count: fitting });
}

/** The graph of a call of the trained model; undefined for any other model. */
function graphOf(
  forward: Node,
  isTraining: boolean,
  context: RuleContext,
  batch?: number,
): BatchGraph | undefined {
  const model = forward.kind === "Call" ? whichModel(forward.callee, context) : undefined;
  if (model === undefined) return undefined;
  const graph = context.estimates.batchGraph?.(isTraining, batch);
  return graph !== undefined && isAt(model, graph.model) ? graph : undefined;
}
