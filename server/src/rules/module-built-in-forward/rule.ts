/**
 * A layer with parameters that `forward` constructs: its weights start anew at every call. An optimizer is given
 * the parameters that a module has registered in `__init__` (torch/nn/modules/module.py, `named_parameters`); a local variable
 * of `forward` is none of them.
 */
import { keyword } from "../../python/keyword";
import { lastName } from "../../python/last-name";
import type { Call, Expression, FunctionDefinition, Node } from "../../python/tree";
import { words } from "../../torch/api-words";
import { isTestFile } from "../../torch/provenance/try-out";
import { excerpt } from "../excerpt";
import { defineRule, oneLower, type RuleContext } from "../rule";

type MessageId = "built" | "inHelper" | "caller";

/** Modules of torch.nn whose constructor makes parameters. */
const layers = words(`
  Linear Bilinear LazyLinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConv1d
  LazyConv2d LazyConv3d BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm LayerNorm GroupNorm RMSNorm RNN LSTM GRU
  RNNCell LSTMCell GRUCell Embedding EmbeddingBag MultiheadAttention Transformer TransformerEncoderLayer
  TransformerDecoderLayer PReLU`);

/** What begins as the plain operation: many write it for that, where the functional form would do. */
const beginsNeutral = /Norm\d?d?$|^PReLU$/;

/** Arguments with which a normalisation has no parameters. */
const affine = ["affine", "elementwise_affine"];

export const rule = defineRule<MessageId>({
  name: "module-built-in-forward",
  group: "model",
  level: "warning",
  summary: {
    en: "A layer is constructed in `forward`: its weights start anew at every call and are never trained.",
    "zh-cn": "在 `forward` 中构造层：每次调用权重都重新初始化，永远得不到训练。",
  },
  messages: {
    built: {
      en: "`{module}` is built anew each time `forward` runs: its weights start anew at every call, and no optimizer has them, so they are never trained. Until backward has run the graph keeps these weights, and gradients are computed for them, for nothing. Build it once in `__init__` and call it here.",
      "zh-cn":
        "每次运行 `forward` 都会重新构造 `{module}`：它的权重每次调用都重新初始化，而且不在任何优化器中，因此永远得不到训练。在反向传播完成之前，计算图一直保留这些权重，还要白白为它们计算梯度。请在 `__init__` 中构造一次，在这里只调用它。",
    },
    inHelper: {
      en: "`{module}` is built anew each time `forward` calls `{helper}`: its weights start anew at every call, and no optimizer has them, so they are never trained. Until backward has run the graph keeps these weights, and gradients are computed for them, for nothing. Build it once in `__init__` and call it here.",
      "zh-cn":
        "每次 `forward` 调用 `{helper}` 都会重新构造 `{module}`：它的权重每次调用都重新初始化，而且不在任何优化器中，因此永远得不到训练。在反向传播完成之前，计算图一直保留这些权重，还要白白为它们计算梯度。请在 `__init__` 中构造一次，在这里只调用它。",
    },
    caller: { en: "`forward` calls it here.", "zh-cn": "`forward` 在这里调用它。" },
  },
  calls: [...layers],
  create: (context) => {
    const owners = new Map<FunctionDefinition, Run | undefined>();
    const seen = new Set<Node>();
    return {
      Call(call) {
        const owner = context.torch.resolve.enclosingFunction(call);
        if (owner?.kind !== "FunctionDefinition") return;
        if (!owners.has(owner)) owners.set(owner, runOf(context, owner));
        const run = owners.get(owner);
        if (run === undefined || !makesParameters(context, call)) return;
        const built = outermost(context, call);
        if (seen.has(built)) return;
        seen.add(built);
        check(context, built, run);
      },
    };
  },
});

/** How a function runs in each forward: as `forward` itself, or called by it. */
interface Run {
  readonly helper: string | undefined;
  readonly calls: readonly Call[];
}

function runOf(context: RuleContext, owner: FunctionDefinition): Run | undefined {
  if (isForward(context, owner)) return { helper: undefined, calls: [] };
  // Layers are made in `__init__`; who constructs the class is not asked for each of them.
  if (owner.name.id.startsWith("__")) return undefined;
  const calls = callsFromForward(context, owner);
  return calls.length === 0 ? undefined : { helper: owner.name.id, calls };
}

function check(context: RuleContext<MessageId>, built: Call, { helper, calls }: Run): void {
  const { torch, source } = context;
  if (isTestFile(torch.scopes) || !isOnlyCalled(context, built)) return;
  if (torch.provenance.gradientMode(built) !== "on") return;
  context.report({
    at: built,
    message: helper === undefined ? "built" : "inHelper",
    level: beginsNeutral.test(lastName(built.callee) ?? "") ? oneLower("warning") : "warning",
    values: { module: excerpt(source, built), ...(helper === undefined ? {} : { helper }) },
    related: calls.map((call) => ({ at: call, message: "caller" })),
  });
}

function makesParameters({ torch }: RuleContext, call: Call): boolean {
  const name = /^torch\.nn\.(?:modules\.\w+\.)?(\w+)$/.exec(
    torch.resolve.qualifiedName(call.callee) ?? "",
  )?.[1];
  if (name === undefined || !layers.has(name) || call.keywordSpreads.length > 0) return false;
  return !affine.some((option) => {
    const value = keyword(call, option);
    return value !== undefined && !(value.kind === "Boolean" && value.value);
  });
}

/** `nn.Sequential(nn.Linear(8, 8), nn.ReLU())` of its first layer. */
function outermost({ torch }: RuleContext, call: Call): Call {
  let built = call;
  for (
    let { parent } = built;
    parent?.kind === "Call" && parent.positional.includes(built);
    { parent } = built
  ) {
    if (torch.resolve.qualifiedName(parent.callee) !== "torch.nn.Sequential") break;
    built = parent;
  }
  return built;
}

function isForward({ torch }: RuleContext, owner: FunctionDefinition): boolean {
  if (owner.name.id !== "forward") return false;
  const holder = torch.resolve.enclosingClass(owner);
  return holder !== undefined && torch.resolve.isModuleClass(holder);
}

/** The calls of a function that nothing but `forward` calls. */
function callsFromForward(context: RuleContext, owner: FunctionDefinition): readonly Call[] {
  const { resolve } = context.torch;
  const calls = resolve.sureCallsTo(owner);
  const isFromForward = (call: Call): boolean => {
    const caller = resolve.enclosingFunction(call);
    return caller?.kind === "FunctionDefinition" && isForward(context, caller);
  };
  return calls.every(isFromForward) ? calls : [];
}

/** What a layer may be asked for before it is called, without giving it weights of its own. */
const passedThrough = words("to cuda cpu half float double bfloat16 train eval type");

/** The layer is run and nothing else: it is not kept on the module, and nobody sets its weights. */
function isOnlyCalled({ torch }: RuleContext, built: Call): boolean {
  const { value, parent } = throughMoves(built);
  if (parent?.kind === "Call") return parent.callee === value;
  if (parent?.kind !== "Assign" || parent.value !== value) return false;
  const [target, ...others] = parent.targets;
  if (target?.kind !== "Name" || others.length > 0) return false;
  const [binding, ...rebindings] = torch.scopes.lookup(target);
  if (binding === undefined || rebindings.length > 0) return false;
  const reads = torch.scopes.referencesTo(binding.scope, target.id);
  return reads.length > 0 && reads.every((read) => isCalled(read));
}

function isCalled(read: Expression): boolean {
  const { value, parent } = throughMoves(read);
  return parent?.kind === "Call" && parent.callee === value;
}

/** `layer.to(x.device)` for `layer`, and what that stands in. */
function throughMoves(layer: Expression): { readonly value: Expression; readonly parent: Node | undefined } {
  let value = layer;
  for (;;) {
    const { parent } = value;
    const call =
      parent?.kind === "Attribute" && passedThrough.has(parent.attribute.id) ? parent.parent : undefined;
    if (call?.kind !== "Call" || call.callee !== parent) return { value, parent };
    value = call;
  }
}
