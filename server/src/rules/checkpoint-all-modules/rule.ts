/** Activation checkpointing of every module, or of single cheap layers: much recomputing for little memory. */
import { FileMemo } from "../../python/file-memo";
import type {
  Call,
  ClassDefinition,
  Comprehension,
  Expression,
  For,
  Node,
  Span,
  Statement,
} from "../../python/tree";
import { ancestors, enclosingStatement, nodesOf, statementList, walk } from "../../python/walk";
import { lossModules, parameterFreeModules } from "../../torch/api";
import { isTestFile } from "../../torch/provenance/try-out";
import type { Resolver } from "../../torch/resolve";
import { defineRule, type RuleContext } from "../rule";

type MessageId = keyof typeof messages;

const messages = {
  everyModule: {
    en: "Every module becomes a checkpointed segment. Around a single layer that saves nothing, because a segment keeps its input and so would the layer; segments inside segments compute the same layers several times over in backward. Checkpointing the repeated blocks alone saves about as much.",
    "zh-cn":
      "每个模块都成了一个重计算段。单个层做成一段省不下显存，因为段要保存自己的输入，而该层本来也要保存它；段中套段又会让同样的层在反向时重算好几遍。只对重复的块做激活重计算，省下的显存差不多。",
  },
  everyChild: {
    en: "Every child of the model becomes a checkpointed segment, single layers too: a segment keeps its input for backward, about what the layer would keep without it, and its forward runs twice. Checkpoint blocks of several layers.",
    "zh-cn":
      "模型的每个子模块都成了一个重计算段，单个层也不例外：段要为反向保存自己的输入，和该层本来要保存的差不多，前向却要跑两遍。请对由多个层组成的块做激活重计算。",
  },
  always: {
    en: "`{call}` wraps every submodule here, because {reason}. Around a single layer that saves nothing, because a segment keeps its input and so would the layer; segments inside segments compute the same layers several times over in backward. Give a `check_fn` that picks the repeated blocks.",
    "zh-cn":
      "`{call}` 在这里会包装每个子模块，因为{reason}。单个层做成一段省不下显存，因为段要保存自己的输入，而该层本来也要保存它；段中套段又会让同样的层在反向时重算好几遍。请用 `check_fn` 只选出重复的块。",
  },
  noFunction: { en: "without `check_fn` it takes all", "zh-cn": "没有给出 `check_fn` 时它会选中全部" },
  alwaysTrue: { en: "its `check_fn` is always true", "zh-cn": "它的 `check_fn` 恒为真" },
  singleLayer: {
    en: "A checkpointed segment of one `{layer}` saves next to nothing: it keeps the layer's input for backward, about what the layer itself would keep, and runs the layer twice. Checkpoint a block of several layers.",
    "zh-cn":
      "只包含一个 `{layer}` 的重计算段几乎省不下显存：它要为反向保存该层的输入，和该层自己要保存的差不多，却要把该层运行两遍。请对由多个层组成的块做激活重计算。",
  },
  blocks: { en: "The repeated blocks are made here.", "zh-cn": "重复的块在这里创建。" },
};

const checkpointFunctions = /^(torch\.utils\.checkpoint|deepspeed\.checkpointing)\.checkpoint$/;
const wrapperFunctions =
  /^(torch\.distributed\.algorithms\._checkpoint\.checkpoint_wrapper\.(checkpoint_wrapper|CheckpointWrapper|ptd_checkpoint_wrapper)|fairscale\.nn(\.checkpoint)?\.checkpoint_wrapper)$/;
const applyFunction =
  /^torch\.distributed\.algorithms\._checkpoint\.checkpoint_wrapper\.apply_activation_checkpointing$/;

/** `torch.nn` classes made of several layers: a segment of one of them is a block. */
const composite =
  /^torch\.nn\.(Sequential|ModuleList|ModuleDict|Transformer\w*|MultiheadAttention|LSTM|GRU|RNN|LSTMCell|GRUCell|Module)$/;
const normalisation =
  /^torch\.nn\.(\w*BatchNorm\w*|LayerNorm|GroupNorm|InstanceNorm\w*|RMSNorm|LocalResponseNorm)$/;

export const rule = defineRule<MessageId>({
  name: "checkpoint-all-modules",
  group: "checkpointing",
  level: "warning",
  summary: {
    en: "Checkpointing every module, or single cheap layers, saves little and recomputes much.",
    "zh-cn": "对每个模块或单个开销很小的层做激活重计算：省得少、重算多。",
  },
  messages,
  calls: [
    "checkpoint",
    "checkpoint_wrapper",
    "CheckpointWrapper",
    "ptd_checkpoint_wrapper",
    "apply_activation_checkpointing",
    "partial",
  ],
  create: (context) => ({
    Call(call) {
      const { resolve, scopes } = context.torch;
      if (call.positional.length + call.keywords.length === 0 || isTestFile(scopes)) return;
      const qualified = resolve.qualifiedName(call.callee);
      if (qualified === undefined) return;
      if (applyFunction.test(qualified)) checkApply(context, call);
      else if (checkpointFunctions.test(qualified) || wrapperFunctions.test(qualified)) {
        checkWrapping(context, call, call.positional[0], wrapperFunctions.test(qualified));
      } else if (qualified === "functools.partial") {
        const [inner, of] = call.positional;
        const wrapped = inner === undefined ? undefined : resolve.qualifiedName(inner);
        if (of !== undefined && wrapped !== undefined && checkpointFunctions.test(wrapped)) {
          checkWrapping(context, call, of, false);
        }
      }
    },
  }),
});

function checkApply(context: RuleContext<MessageId>, call: Call): void {
  if (call.keywordSpreads.length > 0 || call.positional.some(({ kind }) => kind === "Starred")) return;
  const given = (name: string): Expression | undefined =>
    call.keywords.find((argument) => argument.name.id === name)?.value;
  if (given("auto_wrap_policy") !== undefined || call.positional.length > 3) return;
  const check = given("check_fn") ?? call.positional[2];
  if (check !== undefined && !isAlwaysTrue(context.torch.resolve, check)) return;
  const reason = messages[check === undefined ? "noFunction" : "alwaysTrue"];
  context.report({
    at: call,
    message: "always",
    values: { call: context.source.slice(call.callee), reason: { text: reason, values: {} } },
    related: blocks(context),
  });
}

/** `lambda _: True`, or a function whose only statement returns `True`. */
function isAlwaysTrue(resolve: Resolver, check: Expression): boolean {
  if (check.kind === "Lambda") return isTrue(check.body);
  if (check.kind !== "Name") return false;
  const [binding, other] = resolve.scopes.lookup(check);
  if (binding === undefined || other !== undefined) return false;
  if (binding.node.kind === "FunctionDefinition") {
    const body = binding.node.body.filter((statement) => !isDocstring(statement));
    const [only] = body;
    return body.length === 1 && only?.kind === "Return" && only.value !== undefined && isTrue(only.value);
  }
  return binding.value?.kind === "Lambda" && binding.path.length === 0 && isTrue(binding.value.body);
}

function isDocstring(statement: Statement): boolean {
  return statement.kind === "ExpressionStatement" && statement.expression.kind === "String";
}

function isTrue(expression: Expression): boolean {
  return expression.kind === "Boolean" && expression.value;
}

function checkWrapping(
  context: RuleContext<MessageId>,
  call: Call,
  wrapped: Expression | undefined,
  anyLeaf: boolean,
): void {
  if (wrapped === undefined || wrapped.kind === "Starred") return;
  const loops = loopsWithoutFilter(call);
  for (const loop of loops) {
    const over = moduleIteration(loop.iterable);
    if (over === undefined || !dependsOn(context.torch.resolve, wrapped, loop)) continue;
    if (over.method === "modules" || over.method === "named_modules") {
      // `for m in model.modules(): for child in m.children(): …` takes them all as well.
      context.report({ at: call, message: "everyModule", related: blocks(context) });
      return;
    }
  }
  const recursion = loops.find((loop) => isRecursive(context.torch.resolve, loop));
  if (recursion !== undefined && dependsOn(context.torch.resolve, wrapped, recursion)) {
    context.report({ at: call, message: "everyModule", related: blocks(context) });
    return;
  }
  const [innermost] = loops;
  const over = innermost === undefined ? undefined : moduleIteration(innermost.iterable);
  if (innermost !== undefined && over !== undefined) {
    if (!dependsOn(context.torch.resolve, wrapped, innermost)) return;
    const owner = childrenOwner(context.torch.resolve, over.object);
    if (owner !== undefined && mostlySingleLayers(context.torch.resolve, owner)) {
      context.report({ at: call, message: "everyChild", related: blocks(context) });
    }
    return;
  }
  const layer = singleLayer(context.torch.resolve, wrapped, anyLeaf);
  if (layer !== undefined) context.report({ at: call, message: "singleLayer", values: { layer } });
}

/** A loop over children in a function that calls itself for each of them: every level is reached. */
function isRecursive(resolve: Resolver, loop: For): boolean {
  const around = resolve.enclosingFunction(loop);
  if (around?.kind !== "FunctionDefinition" || moduleIteration(loop.iterable) === undefined) return false;
  return loop.body.some(
    (statement) =>
      statement.kind === "ExpressionStatement" &&
      statement.expression.kind === "Call" &&
      resolve.functionOf(statement.expression) === around &&
      statement.expression.positional.some((argument) => dependsOn(resolve, argument, loop)),
  );
}

/** The `for` loops around a node in its function, innermost first, as long as no condition stands between. */
function loopsWithoutFilter(call: Call): For[] {
  const statement = enclosingStatement(call);
  if (statement === undefined || isInConditional(call, statement)) return [];
  const loops: For[] = [];
  let below: Node = statement;
  for (const node of [statement, ...ancestors(statement)]) {
    if (node !== below && skipsSome(below)) return loops;
    if (node.kind === "For" && node !== statement) loops.push(node);
    if (node.kind === "If" || node.kind === "Match" || node.kind === "FunctionDefinition") return loops;
    if (node.kind === "ClassDefinition" || node.kind === "While") return loops;
    below = node;
  }
  return loops;
}

function isInConditional(call: Call, statement: Statement): boolean {
  for (const node of ancestors(call)) {
    if (node === statement) return false;
    if (node.kind === "Conditional" || node.kind === "Comprehension") return true;
  }
  return false;
}

/** An `if …: continue` before the statement in its block. */
function skipsSome(below: Node): boolean {
  const place = statementList(below as Statement);
  if (place === undefined) return false;
  return place.list.slice(0, place.index).some((earlier) => {
    if (earlier.kind !== "If") return false;
    const last = earlier.body.at(-1)?.kind;
    return last === "Continue" || last === "Break" || last === "Return";
  });
}

interface ModuleIteration {
  readonly method: string;
  readonly object: Expression;
}

/** `model.named_modules()`, inside `list(…)` or `enumerate(…)`. */
function moduleIteration(iterable: Expression): ModuleIteration | undefined {
  let current = iterable;
  while (current.kind === "Call") {
    const { callee, positional } = current;
    if (callee.kind === "Attribute") {
      const method = callee.attribute.id;
      return /^(named_)?(modules|children)$/.test(method) ? { method, object: callee.object } : undefined;
    }
    const [first] = positional;
    if (
      callee.kind !== "Name" ||
      !/^(list|tuple|enumerate|reversed|sorted)$/.test(callee.id) ||
      first === undefined
    ) {
      return undefined;
    }
    current = first;
  }
  return undefined;
}

/** True when an expression reads a name that the loop binds, itself or through an inner loop over it. */
function dependsOn(resolve: Resolver, expression: Expression, loop: For, depth = 0): boolean {
  let depends = false;
  walk(expression, {
    enter(node) {
      if (depends || node.kind !== "Name") return !depends;
      for (const { kind, node: bound, value } of resolve.scopes.lookup(node)) {
        if (bound === loop) depends = true;
        else if (kind === "for" && value !== undefined && depth < 4) {
          depends ||= dependsOn(resolve, value, loop, depth + 1);
        }
      }
      return !depends;
    },
  });
  return depends;
}

/** The class whose children are meant: `self.children()` in it, or `model.children()` of an instance. */
function childrenOwner(resolve: Resolver, object: Expression): ClassDefinition | undefined {
  const owner = resolve.classOf(object) ?? resolve.objectOf(object)?.classDefinition;
  return owner !== undefined && resolve.isModuleClass(owner) ? owner : undefined;
}

/** Most of what `__init__` assigns are single layers of `torch.nn`. */
function mostlySingleLayers(resolve: Resolver, owner: ClassDefinition): boolean {
  const initializer = resolve.methodOf(owner, "__init__");
  if (initializer === undefined) return false;
  let single = 0;
  let others = 0;
  for (const statement of initializer.body) {
    if (statement.kind !== "Assign" || statement.value.kind !== "Call") continue;
    const name = resolve.qualifiedName(statement.value.callee);
    if (name !== undefined && /^torch\.nn\.[A-Z]/.test(name) && !composite.test(name)) single++;
    else if (resolve.constructedClass(statement.value) !== undefined || name !== undefined) others++;
  }
  return single > others;
}

/** The class of a layer that is not worth a segment; for wrappers any single layer, else one that computes little. */
function singleLayer(resolve: Resolver, wrapped: Expression, anyLeaf: boolean): string | undefined {
  const construction = constructionOf(resolve, wrapped);
  if (construction === undefined) return undefined;
  const name = resolve.qualifiedName(construction.callee);
  if (name === undefined || !/^torch\.nn\.[A-Z]\w*$/.test(name) || composite.test(name)) return undefined;
  const isCheap = (parameterFreeModules.has(name) && !lossModules.has(name)) || normalisation.test(name);
  return isCheap || (anyLeaf && isLeaf(name)) ? name.replace(/^torch\./, "") : undefined;
}

function isLeaf(name: string): boolean {
  return /^torch\.nn\.(Linear|Bilinear|Conv\d?d|ConvTranspose\dd|Embedding|EmbeddingBag|PReLU)$/.test(name);
}

/** The only construction that is bound to the layer. */
function constructionOf(resolve: Resolver, layer: Expression): Call | undefined {
  if (layer.kind === "Call") return layer;
  if (layer.kind !== "Name" && layer.kind !== "Attribute") return undefined;
  const [only, other] = resolve.valuesOf(layer);
  return only?.kind === "Call" && other === undefined ? only : undefined;
}

/** Where a `ModuleList` or `Sequential` repeats a class: what should be checkpointed. */
function blocks({ torch, module }: RuleContext): { at: Span; message: MessageId }[] {
  const { resolve } = torch;
  const repeated = knownBlocks.of(module, () => {
    for (const node of nodesOf(module)) {
      if (node.kind === "Comprehension" && node.element.kind === "Call" && isRepeatedBlock(resolve, node))
        return node.element;
    }
    return undefined;
  });
  return repeated === undefined ? [] : [{ at: repeated, message: "blocks" }];
}

const knownBlocks = new FileMemo<Span | undefined>();

function isRepeatedBlock(resolve: Resolver, comprehension: Comprehension): boolean {
  const { element } = comprehension;
  if (element.kind !== "Call") return false;
  const isBlock =
    resolve.constructedClass(element) !== undefined ||
    composite.test(resolve.qualifiedName(element.callee) ?? "");
  return isBlock && isInContainer(resolve, comprehension);
}

function isInContainer(resolve: Resolver, comprehension: Node): boolean {
  const parent =
    comprehension.parent?.kind === "Starred" ? comprehension.parent.parent : comprehension.parent;
  if (parent?.kind !== "Call") return false;
  return /^torch\.nn\.(ModuleList|Sequential)$/.test(resolve.qualifiedName(parent.callee) ?? "");
}
