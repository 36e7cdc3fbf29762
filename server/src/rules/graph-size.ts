/** How large the graph of a model's forward is, for messages; nothing is evaluated before a rule asks. */
import type { BatchGraph } from "../memory/estimate";
import { formatBytes } from "../memory/units";
import { sizeTexts } from "../messages/findings";
import { message, type MessageValue } from "../messages/message";
import type { Call, Node } from "../python/tree";
import { autocastAround } from "../torch/autocast";
import type { TorchFacts } from "../torch/facts";
import { loopOverData } from "../torch/provenance/rounds";
import { takesJoined } from "../torch/script-setup/joined-input";
import { loaderOf } from "../torch/training-loop/loader";
import { isAt, unknownSize, whichModel } from "./model-size";
import type { RuleContext } from "./rule";

/** So much at once fills no GPU. */
const small = 16 * 1024 * 1024;

/** The graph that one call of the model builds: `size` of a message. */
export function sizeOfGraph(forward: Node, isTraining: boolean, context: RuleContext): MessageValue {
  const graph = graphOf(forward, isTraining, context);
  if (graph === undefined) return unknownSize;
  const values = { size: formatBytes(graph.bytes), batch: graph.batch };
  return message(graph.complete ? sizeTexts.graph : sizeTexts.graphAtLeast, values);
}

/** The graph that one call of the model builds is known to the end, at the batch that the call gets, and takes next to nothing. */
export function isSmallGraph(forward: Node, isTraining: boolean, context: RuleContext): boolean {
  if (forward.kind !== "Call" || batchAround(forward, context.torch) === undefined) return false;
  const graph = graphOf(forward, isTraining, context);
  return graph !== undefined && graph.complete && graph.bytes < small;
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

/**
 * The graph of a call of the trained model, of a batch of the loader whose loop the call is in, and of one of the training where
 * no such loop is seen; undefined for any other model, and for a call that computes in another precision than training does.
 */
function graphOf(forward: Node, isTraining: boolean, context: RuleContext): BatchGraph | undefined {
  if (forward.kind !== "Call" || !castsAsTraining(forward, context.torch)) return undefined;
  // several views in one call are no batch of the loader
  if (takesJoined(context.torch.resolve, forward)) return undefined;
  const model = whichModel(forward.callee, context);
  if (model === undefined) return undefined;
  const graph = context.estimates.batchGraph?.(isTraining, batchAround(forward, context.torch));
  return graph !== undefined && isAt(model, graph.model) ? graph : undefined;
}

/** The batch of the loader that the loop around a forward goes over, where the script says it. */
function batchAround(forward: Call, { resolve, provenance, scriptSetup }: TorchFacts): number | undefined {
  const loop = loopOverData(forward, resolve, provenance.flow);
  const source = loop && loaderOf(resolve, loop);
  return source && scriptSetup.batchOfLoader(source.loader);
}

/** Both under `autocast`, or neither; frameworks see to it themselves. */
function castsAsTraining(forward: Call, { resolve, frameworks, scriptSetup }: TorchFacts): boolean {
  if (frameworks.made.length > 0) return true;
  const isCast = autocastAround(resolve, forward) !== undefined;
  return isCast === (scriptSetup.precision?.value.startsWith("amp") ?? false);
}
