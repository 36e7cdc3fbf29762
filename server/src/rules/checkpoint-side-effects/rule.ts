/** Checkpointed segments that do not do the same when they run a second time. */
import type {
  Call,
  Expression,
  FunctionDefinition,
  KeywordArgument,
  Lambda,
  Span,
  Statement,
} from "../../python/tree";
import { ancestors, enclosingStatement, walk } from "../../python/walk";
import type { Resolver } from "../../torch/resolve";
import { deleteArgument } from "../fix";
import { defineRule, type RuleContext } from "../rule";
import { segmentOf, type Layer, type Segment } from "./segment";

type MessageId = keyof typeof messages;

const messages = {
  batchNorm: {
    en: "The segment runs `{layer}`, and backward runs it a second time: each batch enters the running statistics twice, momentum 0.1 acts like 0.19. Gradients are right, evaluation differs from a run without checkpointing. Keep the layer out of the segment, freeze its statistics, or give it the momentum 1 - sqrt(1 - m).",
    "zh-cn":
      "该段包含 `{layer}`，反向时会再运行一遍：每个批次的统计量被计入两次，动量 0.1 相当于 0.19。梯度是正确的，但评估结果与不做激活重计算时不同。请把该层放在段外、冻结其统计量，或把动量设为 1 - sqrt(1 - m)。",
  },
  inPlace: {
    en: "The segment changes its own input in place, and that input is what backward recomputes from: backward stops with an error, or computes gradients from the changed values. Work on a new tensor in the segment's first operation.",
    "zh-cn":
      "该段原地修改了自己的输入，而反向时正要从这个输入重算：反向会报错停止，或者从被修改的值算出梯度。请让该段的第一个运算产生新的张量。",
  },
  randomness: {
    en: "The segment has dropout, and with `preserve_rng_state=False` backward draws another mask when it recomputes: the gradients belong to a forward that never gave this loss. Drop the argument.",
    "zh-cn":
      "该段含有 dropout，使用 `preserve_rng_state=False` 时，反向重算会抽取另一个掩码：得到的梯度属于另一次前向，与这个损失不对应。请去掉该参数。",
  },
  made: { en: "This layer runs in the segment.", "zh-cn": "该层在段中运行。" },
  changed: { en: "The input is changed here.", "zh-cn": "输入在这里被修改。" },
  drop: { en: "Drop `preserve_rng_state=False`", "zh-cn": "去掉 `preserve_rng_state=False`" },
};

const checkpointFunction = /^torch\.utils\.checkpoint\.checkpoint$/;
const batchNorm = /^torch\.nn\.(Lazy)?(BatchNorm\dd|SyncBatchNorm)$/;
const statistics = /^(eval|train|momentum|track_running_stats|running_mean|running_var|reset_running_stats)$/;
const dropout = /^torch\.nn\.(Dropout\d?d?|AlphaDropout|FeatureAlphaDropout)$/;
/** Layers with dropout inside unless told otherwise. */
const withDropout = /^torch\.nn\.Transformer(Encoder|Decoder)Layer$/;
const dropoutFunction = /^torch\.(nn\.functional\.)?(alpha_|feature_)?dropout(\dd)?_?$/;

export const rule = defineRule<MessageId>({
  name: "checkpoint-side-effects",
  group: "checkpointing",
  level: "warning",
  summary: {
    en: "A checkpointed segment does something else when it runs again in backward.",
    "zh-cn": "被重计算的段在反向时再次运行，行为与第一次不同。",
  },
  messages,
  calls: ["checkpoint"],
  create: (context) => ({
    Call(call) {
      const { callee } = call;
      const [argument] = call.positional;
      if (argument === undefined || argument.kind === "Starred") return;
      if (!checkpointFunction.test(context.torch.resolve.qualifiedName(callee) ?? "")) return;
      check(context, call, argument);
    },
  }),
});

function check(context: RuleContext<MessageId>, call: Call, argument: Expression): void {
  const { resolve } = context.torch;
  const segment = segmentOf(resolve, argument);
  const norm = segment.layers.find(updatesStatistics);
  // A `context_fn` may take care of the second run.
  const isMinded =
    norm === undefined || keyword(call, "context_fn") !== undefined || isInEvalMode(resolve, argument, norm);
  if (!isMinded && !mindsBatchNorm(resolve)) {
    context.report({
      at: call,
      message: "batchNorm",
      values: { layer: norm.name.replace(/^torch\./, "") },
      related: [{ at: norm.construction, message: "made" }],
    });
  }
  const changed = changesInput(resolve, segment);
  if (changed !== undefined) {
    context.report({ at: call, message: "inPlace", related: [{ at: changed, message: "changed" }] });
  }
  const preserve = keyword(call, "preserve_rng_state");
  if (preserve?.value.kind === "Boolean" && !preserve.value.value && drawsMask(resolve, segment)) {
    context.report({
      at: call,
      message: "randomness",
      fixes: [{ title: "drop", safety: "safe", edits: [deleteArgument(context.source, call, preserve)] }],
    });
  }
}

function keyword(call: Call, name: string): KeywordArgument | undefined {
  return call.keywords.find((given) => given.name.id === name);
}

function updatesStatistics({ name, construction }: Layer): boolean {
  if (!batchNorm.test(name)) return false;
  const tracks = keyword(construction, "track_running_stats")?.value;
  const momentum = keyword(construction, "momentum")?.value;
  if (tracks !== undefined && !(tracks.kind === "Boolean" && tracks.value)) return false;
  // A momentum of its own may be one that counts with the second run.
  return momentum === undefined || momentum.kind === "Float" || momentum.kind === "Integer";
}

/** `self.norm.eval()`, `self.stem.eval()` of the segment itself: its statistics stay as they are. */
function isInEvalMode(resolve: Resolver, segment: Expression, norm: Layer): boolean {
  const key = resolve.keyOf(segment);
  return (resolve.index.callsByName.get("eval") ?? []).some(({ callee }) => {
    if (callee.kind !== "Attribute") return false;
    if (key !== undefined && resolve.keyOf(callee.object) === key) return true;
    return resolve.valuesOf(callee.object).some((value) => value === norm.construction);
  });
}

/** The file looks for BatchNorm layers, to freeze them or to change their momentum: it knows of the matter. */
function mindsBatchNorm(resolve: Resolver): boolean {
  const looksFor = (call: Call): boolean =>
    resolve.qualifiedName(call.callee) === "builtins.isinstance" &&
    call.positional
      .slice(1)
      .some((types) =>
        (types.kind === "Tuple" ? types.elements : [types]).some((type) =>
          /BatchNorm/.test(resolve.qualifiedName(type) ?? ""),
        ),
      );
  if (resolve.index.calls.some((call) => looksFor(call) && setsStatistics(call))) return true;
  return resolve.index.functions.some(({ name }) => /(freeze|frozen|fix|eval).*(bn|norm)/i.test(name.id));
}

/** The `if` around does more than set weights: `module.eval()`, `module.momentum = …`. */
function setsStatistics(call: Call): boolean {
  const around = enclosingStatement(call);
  let sets = false;
  if (around !== undefined) {
    walk(around, {
      enter(node) {
        if (node.kind === "Attribute" && statistics.test(node.attribute.id)) sets = true;
      },
    });
  }
  return sets;
}

function drawsMask(resolve: Resolver, { layers, functions }: Segment): boolean {
  const drops = layers.some(({ name, construction }) => {
    const rate =
      keyword(construction, withDropout.test(name) ? "dropout" : "p")?.value ??
      positionalRate(name, construction);
    const isOff =
      rate !== undefined && (rate.kind === "Float" || rate.kind === "Integer") && rate.value === 0;
    return (dropout.test(name) || withDropout.test(name)) && !isOff;
  });
  if (drops) return true;
  return functions.some((target) => {
    let found = false;
    walk(target, {
      enter(node) {
        if (node.kind === "Call" && dropoutFunction.test(resolve.qualifiedName(node.callee) ?? "")) {
          // `F.dropout` is on unless its `training` says otherwise.
          found = true;
        }
      },
    });
    return found;
  });
}

function positionalRate(name: string, construction: Call): Expression | undefined {
  return withDropout.test(name) ? construction.positional[3] : construction.positional[0];
}

/** Where the segment's first operations write to its first input. */
function changesInput(resolve: Resolver, segment: Segment): Span | undefined {
  const { first } = segment;
  if (first !== undefined) return isInPlace(first.construction) ? first.construction : undefined;
  const [target] = segment.functions;
  return target === undefined ? undefined : changedIn(resolve, target);
}

function changedIn(resolve: Resolver, target: FunctionDefinition | Lambda): Span | undefined {
  const parameters = target.parameters.filter(({ parameterKind }) => parameterKind !== "kwargs");
  const isMethod = target.kind === "FunctionDefinition" && resolve.enclosingClass(target) !== undefined;
  const input = parameters[isMethod ? 1 : 0];
  if (input === undefined || input.parameterKind === "args") return undefined;
  const name = input.name.id;
  if (target.kind === "Lambda") return changedInExpression(resolve, target.body, name);
  for (const statement of target.body) {
    const changed = changedByStatement(resolve, statement, name);
    if (changed !== undefined) return changed;
    if (rebinds(statement, name)) return undefined;
  }
  return undefined;
}

function changedByStatement(resolve: Resolver, statement: Statement, name: string): Span | undefined {
  switch (statement.kind) {
    case "AugmentedAssign":
      return isName(statement.target, name) ? statement : changedInExpression(resolve, statement.value, name);
    case "Assign":
      return (
        changedInExpression(resolve, statement.value, name) ??
        statement.targets.find((target) => target.kind === "Subscript" && isName(target.object, name))
      );
    case "ExpressionStatement":
      return changedInExpression(resolve, statement.expression, name);
    case "Return":
      return statement.value && changedInExpression(resolve, statement.value, name);
    default:
      return undefined;
  }
}

/** `x.add_(1)`, `F.relu(x, inplace=True)`, `self.relu(x)` with `nn.ReLU(inplace=True)`. */
function changedInExpression(resolve: Resolver, expression: Expression, name: string): Span | undefined {
  let changed: Span | undefined;
  walk(expression, {
    enter(node) {
      if (changed !== undefined || node.kind === "Lambda") return false;
      if (node.kind !== "Call" || isBelowCondition(node, expression)) return undefined;
      const { callee, positional } = node;
      if (callee.kind === "Attribute" && isName(callee.object, name)) {
        const method = callee.attribute.id;
        if (/[a-z]_$/.test(method) && method !== "requires_grad_" && method !== "retain_grad_")
          changed = node;
        return undefined;
      }
      if (positional[0] === undefined || !isName(positional[0], name)) return undefined;
      if (resolve.qualifiedName(callee)?.startsWith("torch.nn.functional.") === true) {
        if (isInPlace(node)) changed = node;
        return undefined;
      }
      const [only, other] = resolve.valuesOf(callee);
      if (other !== undefined || only?.kind !== "Call" || !isInPlace(only)) return undefined;
      if (/^torch\.nn\.[A-Z]\w*$/.test(resolve.qualifiedName(only.callee) ?? "")) changed = node;
      return undefined;
    },
  });
  return changed;
}

function isBelowCondition(node: Call, root: Expression): boolean {
  for (const around of ancestors(node)) {
    if (around.kind === "Conditional" || around.kind === "BooleanOperation") return true;
    if (around === root) return false;
  }
  return false;
}

function isInPlace(call: Call): boolean {
  const value = keyword(call, "inplace")?.value;
  return value?.kind === "Boolean" && value.value;
}

function isName(expression: Expression, name: string): boolean {
  return expression.kind === "Name" && expression.id === name;
}

/** The name stands for something else behind the statement; compound statements may do it anywhere. */
function rebinds(statement: Statement, name: string): boolean {
  let rebound = false;
  walk(statement, {
    enter(node) {
      if (node.kind === "Assign") {
        for (const target of node.targets) {
          const targets = target.kind === "Tuple" || target.kind === "List" ? target.elements : [target];
          rebound ||= targets.some((one) => isName(one, name));
        }
      }
      if (node.kind === "For") rebound ||= isName(node.target, name);
    },
  });
  return rebound;
}
