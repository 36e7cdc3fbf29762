/** Whether a model has batch normalization, and what keeps its statistics from following the micro-batch. */
import type { Call, ClassDefinition, Expression, Node } from "../../python/tree";
import { ancestors, walk } from "../../python/walk";
import type { ScriptModel } from "../../torch/script-setup";
import type { RuleContext } from "../rule";

const batchNorm = /^torch\.nn\.(Lazy)?BatchNorm[123]d$/;
/** Families of torchvision's models whose layers are normalized over the batch. */
const normalizedFactories =
  /^torchvision\.models(\.\w+)*\.(resnet\d+|resnext\w+|wide_resnet\w+|densenet\d+|mobilenet_\w+|efficientnet_\w+|googlenet|inception_v3|mnasnet\w+|regnet_\w+|shufflenet_\w+|vgg\d+_bn|fcn_resnet\w+|deeplabv3_\w+|lraspp_\w+)$/;
/** Names of code that synchronizes, freezes or replaces batch normalization. */
const handledName =
  /sync_?batch_?norm|sync_?bn|frozen_?batch|freez\w*_?(bn|batch_?norm)|(bn|batch_?norm)_?(eval|freez|frozen)|(eval|fix|set)_?(bn|batch_?norm)|ghost_?b|precise_?bn/i;

/** Where the model makes a BatchNorm layer: the layer, or the call of a factory known to make some. */
export function batchNormOf(
  context: RuleContext,
  { construction, classDefinition }: ScriptModel,
): Node | undefined {
  const { resolve } = context.torch;
  const factory = construction === undefined ? undefined : resolve.qualifiedName(construction.callee);
  if (construction !== undefined && factory !== undefined && normalizedFactories.test(factory))
    return replacesNorm(construction) ? undefined : construction;
  const root = classDefinition ?? (factory === "torch.nn.Sequential" ? construction : undefined);
  return root === undefined ? undefined : layerBelow(context, root, new Set());
}

function replacesNorm({ keywords }: Call): boolean {
  return keywords.some(({ name }) => name.id === "norm_layer");
}

function layerBelow(
  context: RuleContext,
  root: ClassDefinition | Expression,
  seen: Set<Node>,
): Node | undefined {
  const { resolve } = context.torch;
  const pending: Node[] = [root];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    let found: Node | undefined;
    walk(next, {
      enter(node) {
        if (found !== undefined || node.kind !== "Call") return found === undefined;
        const name = resolve.qualifiedName(node.callee);
        if (name !== undefined && (batchNorm.test(name) || isNormalizedBackbone(name, node))) found = node;
        const made = name === undefined ? resolve.constructedClass(node) : undefined;
        if (made !== undefined) pending.push(made);
        return;
      },
    });
    if (found !== undefined) return found;
  }
  return undefined;
}

/** `self.encoder = densenet161(…).features`. */
function isNormalizedBackbone(name: string, construction: Call): boolean {
  return normalizedFactories.test(name) && !replacesNorm(construction);
}

/** True when something in the file synchronizes, freezes or replaces batch normalization, or trains in eval mode. */
export function isHandled(context: RuleContext): boolean {
  const { index } = context.torch.resolve;
  for (const names of [index.namesById, index.attributesByName]) {
    for (const name of names.keys()) if (handledName.test(name)) return true;
  }
  const evaluations = index.callsByName.get("eval") ?? [];
  if (evaluations.length > 0 && !index.callsByName.has("train")) return true;
  return evaluations.some((call) => [...ancestors(call)].some((around) => asksForBatchNorm(context, around)));
}

/** `if isinstance(module, nn.BatchNorm2d): module.eval()`. */
function asksForBatchNorm({ source }: RuleContext, node: Node): boolean {
  return node.kind === "If" && /batch_?norm|\bbn\b/i.test(source.slice(node.test));
}
