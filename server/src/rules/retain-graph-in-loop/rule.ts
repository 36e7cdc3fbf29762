/** `retain_graph=True` on the last backward over a graph: nothing walks it again, so it only lives longer. */
import { lastName } from "../../python/last-name";
import { FileMemo } from "../../python/file-memo";
import type { Call, Expression, FunctionDefinition, KeywordArgument, Node } from "../../python/tree";
import { enclosingFunction, enclosingLoop, isWithin } from "../../python/walk";
import { onlyReads } from "../../torch/api-graph";
import type { TorchFacts } from "../../torch/facts";
import { isMadeInRound, type Round } from "../../torch/graph-parts";
import type { ImportedClass } from "../../torch/imported";
import { headOf } from "../../torch/per-batch";
import type { BackwardCall } from "../../torch/provenance";
import { excerpt } from "../excerpt";
import { deleteArgument } from "../fix";
import { leastGraphBehind } from "../graph-size";
import { unknownSize } from "../model-size";
import { defineRule, oneLower, type RuleContext } from "../rule";
import { callsInBody } from "../../torch/resolve-index";

type MessageId = "retained" | "named" | "inFunction" | "loop" | "made" | "drop";
type Loop = NonNullable<ReturnType<typeof enclosingLoop>>;

export const rule = defineRule<MessageId>({
  name: "retain-graph-in-loop",
  group: "graph",
  level: "warning",
  summary: {
    en: "`retain_graph=True` keeps a graph that no later backward walks.",
    "zh-cn": "`retain_graph=True` 保留了之后没有 backward 再遍历的计算图。",
  },
  messages: {
    retained: {
      en: "`retain_graph=True` keeps the activations of `{loss}`{size, select, unknown {} other { ({size})}} after this backward, though no other backward walks that graph: they stay until `{loss}` is assigned again, beside those of the next iteration's forward. Leave the argument out.",
      "zh-cn":
        "`retain_graph=True` 让 `{loss}` 的激活{size, select, unknown {} other {（{size}）}}在这次 backward 之后仍然保留，但没有其他 backward 再遍历该计算图：它们会一直留到 `{loss}` 被重新赋值，与下一次迭代前向传播的激活同时存在。请去掉这个参数。",
    },
    named: {
      en: "If `{model}` is a model with trainable parameters: `retain_graph=True` keeps the activations of `{loss}` after this backward, though no other backward walks that graph. They stay until `{loss}` is assigned again, beside those of the next iteration's forward. Leave the argument out.",
      "zh-cn":
        "如果 `{model}` 是带有可训练参数的模型：`retain_graph=True` 让 `{loss}` 的激活在这次 backward 之后仍然保留，但没有其他 backward 再遍历该计算图。它们会一直留到 `{loss}` 被重新赋值，与下一次迭代前向传播的激活同时存在。请去掉这个参数。",
    },
    inFunction: {
      en: "`retain_graph=True` keeps the activations of `{loss}`{size, select, unknown {} other { ({size})}} all through this backward and until `{function}` returns, though no other backward walks that graph: without it a backward frees those of each layer as it passes. Leave the argument out.",
      "zh-cn":
        "`retain_graph=True` 让 `{loss}` 的激活{size, select, unknown {} other {（{size}）}}在整个 backward 期间一直保留到 `{function}` 返回，但没有其他 backward 再遍历该计算图；不加它时，backward 每经过一层就释放该层的激活。请去掉这个参数。",
    },
    loop: {
      en: "Each iteration of this loop makes a new graph.",
      "zh-cn": "这个循环的每次迭代都会建立新的计算图。",
    },
    made: { en: "The graph begins here.", "zh-cn": "计算图从这里开始。" },
    drop: { en: "Remove `retain_graph=True`", "zh-cn": "删除 `retain_graph=True`" },
  },
  create(context) {
    return {
      finish() {
        for (const backward of context.torch.provenance.ownBackwards) check(context, backward);
      },
    };
  },
});

function check(context: RuleContext<MessageId>, backward: BackwardCall): void {
  const { torch } = context;
  const argument = retaining(backward.call);
  const [value] = backward.values;
  const place = argument && placeOf(torch, backward.call);
  if (argument === undefined || place === undefined || value === undefined) return;
  if (isStage(context, backward.call)) return;
  const { round, loops } = place;
  const calls = torch.provenance.graphCalls(value);
  const carried = torch.provenance.carried(value);
  if (carried.graph !== "yes" || calls.size === 0) return;
  if (loops.some((loop) => isWalkedByOthers(torch, backward, calls, loop))) return;
  for (const call of calls) if (!isFresh(torch, call, round)) return;
  if (!isMadeInRound(torch, value, round) || mayBeWalkedElsewhere(torch, backward, calls, round)) return;
  if (
    round.kind === "FunctionDefinition" &&
    (carried.certainty === "name" || isReturned(torch, round, calls))
  )
    return;
  report(context, { backward, argument, value, place });
}

/** `output.backward(grad_output)` is a stage of a backward pass that somebody wrote by hand, as reversible layers have it. */
function isStage({ torch }: RuleContext<MessageId>, { positional }: Call): boolean {
  const [gradient] = positional;
  if (gradient === undefined) return false;
  const name = gradient.kind === "Call" ? torch.resolve.qualifiedName(gradient.callee) : undefined;
  return name === undefined || !/^torch\.(ones(_like)?|tensor|full(_like)?)$/.test(name);
}

/** Where a backward runs again and again. */
interface Place {
  /** The loop around it; without one the function around it, which loops call. */
  readonly round: Round;
  readonly loops: readonly Loop[];
}

function placeOf({ provenance }: TorchFacts, call: Call): Place | undefined {
  const loop = enclosingLoop(call);
  if (loop !== undefined) return { round: loop, loops: [loop] };
  const around = enclosingFunction(call);
  const loops = provenance.reach.callingLoops(call);
  return around?.kind === "FunctionDefinition" && loops.length > 0 ? { round: around, loops } : undefined;
}

/** Whoever called the function may walk what it returns. */
function isReturned(
  { resolve, provenance }: TorchFacts,
  around: FunctionDefinition,
  calls: ReadonlySet<Node>,
): boolean {
  return resolve
    .returnedValues(around)
    .some((value) => [...provenance.carriedHere(value).sources].some((source) => calls.has(source)));
}

/** The argument `retain_graph=True` of `x.backward(…)`; `create_graph` is another matter. */
function retaining(call: Call): KeywordArgument | undefined {
  if (call.callee.kind !== "Attribute" || !/backward$/.test(call.callee.attribute.id)) return undefined;
  if (call.keywords.some(({ name }) => name.id === "create_graph") || call.keywordSpreads.length > 0)
    return undefined;
  return call.keywords.find(
    ({ name, value }) => name.id === "retain_graph" && value.kind === "Boolean" && value.value,
  );
}

/** Another backward that comes after this one has a part of its graph, or may have. */
function isWalkedByOthers(
  torch: TorchFacts,
  backward: BackwardCall,
  calls: ReadonlySet<Node>,
  loop: Loop,
): boolean {
  return torch.provenance.backwards.some((other) => {
    if (other === backward) return false;
    const isInLoop = torch.provenance.reach.runsIn(loop, other.call);
    if (isInLoop && other.call.end <= backward.call.start && sharesBlock(other.call, backward.call))
      return false;
    const others = walkedBy(torch, other);
    if (others.length === 0) return isInLoop;
    return others.some((call) => calls.has(call));
  });
}

const knownWalked = new FileMemo<Map<BackwardCall, readonly Node[]>>();

/** The calls that began the graphs a backward walks, found once for all that ask. */
function walkedBy(torch: TorchFacts, backward: BackwardCall): readonly Node[] {
  const known = knownWalked.of(torch.module, () => new Map());
  let walked = known.get(backward);
  if (walked === undefined) {
    walked = backward.values.flatMap((value) => [...torch.provenance.graphCalls(value)]);
    known.set(backward, walked);
  }
  return walked;
}

/** Both run once in each iteration, so the earlier one cannot come after the later one. */
function sharesBlock(earlier: Call, later: Call): boolean {
  return (
    enclosingLoop(earlier) === enclosingLoop(later) && enclosingFunction(earlier) === enclosingFunction(later)
  );
}

/** The call runs in this round and takes no state along from an earlier one inside its model. */
function isFresh(torch: TorchFacts, call: Node, round: Round): boolean {
  if (!torch.provenance.reach.isInBody(round, call)) return false;
  if (call.kind !== "Call") return true;
  const object = torch.resolve.objectOf(call.callee);
  if (object?.role !== "model") return false;
  const owner = object.classDefinition;
  if (owner !== undefined) return !keepsState(torch, owner);
  const { importedClass } = object;
  if (importedClass !== undefined) return !keepsStateElsewhere(importedClass);
  return object.className !== undefined && /^(torch|torchvision|timm|transformers)\./.test(object.className);
}

/** The class, or a module of this file that it may hold, writes an attribute outside its constructor. */
function keepsState({ resolve }: Pick<TorchFacts, "resolve">, owner: Node): boolean {
  const classes = resolve.index.classes.filter((one) => one === owner || resolve.isModuleClass(one));
  return resolve.index.attributeStores.some(({ target, statement }) => {
    const around = enclosingFunction(statement);
    if (around?.kind !== "FunctionDefinition" || around.name.id === "__init__") return false;
    if (target.kind !== "Attribute") return false;
    return classes.some((one) => isWithin(statement, one));
  });
}

function keepsStateElsewhere({ definition, file }: ImportedClass): boolean {
  const { resolve } = file.torch;
  return resolve.imported.basesOf(definition).length > 0 || keepsState(file.torch, definition);
}

/** The loss, or something it is made of, goes to code that may call backward. */
function mayBeWalkedElsewhere(
  torch: TorchFacts,
  backward: BackwardCall,
  calls: ReadonlySet<Node>,
  round: Round,
): boolean {
  const { resolve } = torch;
  return callsInBody(resolve.index, round).some((call) => {
    if (call === backward.call) return false;
    const qualified = resolve.qualifiedName(call.callee);
    if (qualified?.startsWith("torch.") === true || (qualified !== undefined && onlyReads(qualified)))
      return false;
    if (resolve.functionOf(call) !== undefined || resolve.roleOf(call.callee) !== undefined) return false;
    const { callee } = call;
    const name = lastName(callee) ?? "";
    const isMethod = qualified === undefined && callee.kind === "Attribute";
    if (isMethod && !/backward|scaler|step|optim|grad|hess|fisher|penalt|update_|train/i.test(name))
      return false;
    return [...call.positional, ...call.keywords.map(({ value }) => value)].some((argument) =>
      [...torch.provenance.graphCalls(argument)].some((one) => calls.has(one)),
    );
  });
}

interface Retained {
  readonly backward: BackwardCall;
  readonly argument: KeywordArgument;
  readonly value: Expression;
  readonly place: Place;
}

function report(context: RuleContext<MessageId>, { backward, argument, value, place }: Retained): void {
  const { source, torch } = context;
  const { round, loops } = place;
  const carried = torch.provenance.carried(value);
  const named = carried.certainty === "name";
  const [made] = carried.sources;
  context.report({
    at: backward.call,
    message: round.kind === "FunctionDefinition" ? "inFunction" : named ? "named" : "retained",
    values: {
      loss: excerpt(source, value),
      ...(round.kind === "FunctionDefinition" ? { function: `${round.name.id}()` } : {}),
      size: named || made === undefined ? unknownSize : leastGraphBehind(made, true, context),
      model: made?.kind === "Call" ? excerpt(source, made.callee) : excerpt(source, value),
    },
    ...(named ? { level: oneLower("warning") } : {}),
    related: [
      ...(made === undefined ? [] : [{ at: made, message: "made" as const }]),
      ...loops.slice(0, 1).map((loop) => ({ at: headOf(loop), message: "loop" as const })),
    ],
    fixes: [{ title: "drop", safety: "review", edits: [deleteArgument(source, backward.call, argument)] }],
  });
}
