/**
 * A teacher, reference or target network whose forward builds a graph that the loss carries: backward walks it and
 * computes gradients for weights that no optimizer updates. Or one that gradients have to go through, as in a perceptual
 * loss, whose weights were not told that they need none.
 */
import { lastName } from "../../python/last-name";
import { FileMemo } from "../../python/file-memo";
import type { Call, Expression, Node, Statement } from "../../python/tree";
import { ancestors, enclosingStatement, someNode } from "../../python/walk";
import { mayBeFrozen } from "../../torch/may-be-frozen";
import { modelOwnership } from "../../torch/ownership";
import type { BackwardCall, Carried } from "../../torch/provenance";
import { argumentsOf } from "../../torch/provenance/shapes";
import type { ResolvedObject, Resolver } from "../../torch/resolve";
import { callsWithin } from "../../torch/resolve-index";
import { excerpt } from "../excerpt";
import { insertLineAfter, wrapInWith } from "../fix";
import { sizeOfGraph } from "../graph-size";
import { sizeOfGradients, unknownSize } from "../model-size";
import { contextCall } from "../no-grad-context";
import { defineRule, oneLower, type Report, type RuleContext } from "../rule";
import { isBesideTrained, trainerLosses, type TrainerLoss } from "./trainers";
import { bringsGraph, mayFreezeItself, reachesWeights } from "./through";

type MessageId = "walked" | "named" | "through" | "backward" | "trainer" | "evalCall" | "wrap" | "freeze";

export const rule = defineRule<MessageId>({
  name: "teacher-without-no-grad",
  group: "gradient-modes",
  level: "warning",
  summary: {
    en: "A teacher or reference model that nothing trains runs with gradients on.",
    "zh-cn": "不参与训练的教师模型或参考模型在开启梯度的情况下运行。",
  },
  messages: {
    walked: {
      en: "The loss carries the graph of `{call}`, but no optimizer trains `{model}`: its activations{size, select, unknown {} other { ({size})}} stay until the backward, which then computes a gradient for each of its weights{weights, select, unknown {} other { ({weights} in all)}} that nobody uses. Run it under `torch.no_grad()`, or freeze it with `{model}.requires_grad_(False)`.",
      "zh-cn":
        "损失带有 `{call}` 的计算图，但没有任何优化器训练 `{model}`：它的激活{size, select, unknown {} other {（{size}）}}会保留到 backward，而 backward 还会为它的每个权重计算没人使用的梯度{weights, select, unknown {} other {（共{weights}）}}。请在 `torch.no_grad()` 下运行它，或用 `{model}.requires_grad_(False)` 冻结它。",
    },
    named: {
      en: "If `{model}` is a model with trainable parameters: the loss carries the graph of `{call}`, but no optimizer trains `{model}`. Its activations stay until the backward, which then computes a gradient for each of its weights that nobody uses. Run it under `torch.no_grad()`, or freeze it with `{model}.requires_grad_(False)`.",
      "zh-cn":
        "如果 `{model}` 是带有可训练参数的模型：损失带有 `{call}` 的计算图，但没有任何优化器训练 `{model}`。它的激活会保留到 backward，而 backward 还会为它的每个权重计算没人使用的梯度。请在 `torch.no_grad()` 下运行它，或用 `{model}.requires_grad_(False)` 冻结它。",
    },
    through: {
      en: "Gradients go through `{model}` to what is trained, but no optimizer trains `{model}` itself: the backward computes a gradient for each of its weights{weights, select, unknown {} other { ({weights} in all)}} as well and keeps it in a `.grad` that nobody reads. Freeze it with `{model}.requires_grad_(False)`; gradients still go through it.",
      "zh-cn":
        "梯度要穿过 `{model}` 传给被训练的部分，但没有任何优化器训练 `{model}` 本身：backward 还会为它的每个权重计算梯度{weights, select, unknown {} other {（共{weights}）}}，并保留在没人读取的 `.grad` 中。请用 `{model}.requires_grad_(False)` 冻结它；梯度仍会穿过它。",
    },
    backward: {
      en: "This backward walks its graph.",
      "zh-cn": "这次 backward 会遍历它的计算图。",
    },
    trainer: {
      en: "`Trainer` walks the graph of what is returned here.",
      "zh-cn": "`Trainer` 的 backward 会遍历这里返回的计算图。",
    },
    evalCall: {
      en: "This switches dropout and batch normalisation to evaluation; gradients stay on.",
      "zh-cn": "这里把 dropout 和批归一化切换到评估模式；梯度仍然开启。",
    },
    freeze: { en: "Freeze `{model}`", "zh-cn": "冻结 `{model}`" },
    wrap: { en: "Wrap in `with {context}:`", "zh-cn": "用 `with {context}:` 包裹" },
  },
  create(context) {
    return {
      finish() {
        if (context.torch.provenance.backwards.length > 0) check(context);
        for (const loss of trainerLosses(context.torch)) checkTrainer(context, loss);
      },
    };
  },
});

/** What models are called that others learn from. */
const teacherName =
  /(^|_)(teachers?|targets?|tgt|ref|reference|frozen|ema|momentum|anchor|old|prior|pretrained|fixed)(_|\d|$)|^(teacher|target|ref|old|ema)[A-Z]|(Teacher|Target|Ref|Old|Ema|EMA)(Net|Model|Network)?$|^t_?(net|model)$/;

function check(context: RuleContext<MessageId>): void {
  const { resolve } = context.torch;
  let walked: ReadonlyMap<Node, BackwardCall> | undefined;
  const passed = new Set<string | undefined>();
  for (const call of resolve.index.calls) {
    const model = modelOf(call);
    if (model === undefined || isFunctionElsewhere(resolve, call.callee, model)) continue;
    const object = resolve.objectOf(model);
    if (object?.role !== "model" || argumentsOf(call).length === 0) continue;
    const evalCall = evalCallOf(context, model);
    const isTeacher = isCalledTeacher(context, model);
    if (!isTeacher && (evalCall === undefined || isGivenFromElsewhere(context, model))) continue;
    walked ??= walkedCalls(context);
    const backward = walked.get(call);
    if (backward === undefined || !recordsForNobody(context, call, model)) continue;
    // The graph may be what the loss needs: a perceptual loss sends gradients through a network that nobody trains.
    if (
      !argumentsOf(call).some((argument) => mayCarry(context, argument) && !isOfTeachers(context, argument))
    ) {
      if (teachesAnother(context, backward, model) && isUntrained(context, model))
        report(context, call, model, object, { at: backward.call, message: "backward" }, evalCall);
      continue;
    }
    const key = resolve.keyOf(model);
    if (evalCall === undefined || passed.has(key) || !bringsGraph(context, call)) continue;
    if (!mayFreezeItself(context, object) && reachesWeights(backward) && isUntrained(context, model)) {
      passed.add(key);
      reportThrough(context, call, model, backward, evalCall);
    }
  }
}

/** What an import brings is a function or a class, unless the file that it comes from binds it to a value. */
function isFunctionElsewhere(resolve: Resolver, callee: Expression, model: Expression): boolean {
  if (resolve.qualifiedName(callee) === undefined) return false;
  return resolve.imported.variablesNamed(model).length === 0;
}

/** By its name, or because it is another model's copy. */
function isCalledTeacher(context: RuleContext<MessageId>, model: Expression): boolean {
  return (
    teacherName.test(lastName(model) ?? "") || isCopy(context, model) || takesOverWeights(context, model)
  );
}

/** What the argument brings along is the graph of other teachers only: `target_critic(state, target_actor(state))`. */
function isOfTeachers(context: RuleContext<MessageId>, argument: Expression): boolean {
  const { resolve, provenance } = context.torch;
  const { graph, sources, parameters } = provenance.carriedHere(argument);
  if (graph !== "yes" || parameters.some(({ owner }) => resolve.callsTo(owner).length > 0)) return false;
  return [...sources].every((source) => {
    const model = source.kind === "Call" ? modelOf(source) : undefined;
    if (source.kind !== "Call" || model === undefined || !isCalledTeacher(context, model)) return false;
    if (argumentsOf(source).some((given) => mayCarry(context, given))) return false;
    return recordsForNobody(context, source, model) && isUntrained(context, model);
  });
}

/** A teacher whose graph the loss of a subclass of `Trainer` carries. */
function checkTrainer(context: RuleContext<MessageId>, { owner, method, returned }: TrainerLoss): void {
  const { resolve, provenance } = context.torch;
  const walkedFrom = new Map<Node, Node>();
  for (const { at, value } of returned)
    for (const source of provenance.carriedHere(value).sources)
      if (!walkedFrom.has(source)) walkedFrom.set(source, at);
  const keyOfModel = (source: Node): string | undefined => {
    const model = source.kind === "Call" ? modelOf(source) : undefined;
    return model && resolve.keyOf(model);
  };
  for (const [call, at] of walkedFrom) {
    const model = call.kind === "Call" ? modelOf(call) : undefined;
    if (call.kind !== "Call" || model === undefined || resolve.enclosingFunction(call) !== method) continue;
    const object = resolve.objectOf(model);
    if (object?.role !== "model" || !teacherName.test(lastName(model) ?? "")) continue;
    if (argumentsOf(call).some((argument) => mayCarry(context, argument))) continue;
    if (!recordsForNobody(context, call, model) || isOwned(context, model)) continue;
    const key = keyOfModel(call);
    const others = [...walkedFrom.keys()].map(keyOfModel).filter((other) => other !== undefined);
    if (others.some((other) => other !== key) && isBesideTrained(context.torch, model, owner))
      report(context, call, model, object, { at, message: "trainer" }, evalCallOf(context, model));
  }
}

/** A parameter whose callers are not seen: what an optimizer over another parameter trains may be a part of it. */
function isGivenFromElsewhere({ torch: { resolve } }: RuleContext<MessageId>, model: Expression): boolean {
  let root = model;
  while (root.kind === "Attribute" || root.kind === "Subscript") root = root.object;
  if (root.kind !== "Name") return false;
  const name = root.id;
  return resolve.scopes.lookup(root).some(({ kind, scope: { owner } }) => {
    if (kind !== "parameter" || owner.kind !== "FunctionDefinition") return false;
    return name !== "self" && resolve.callsTo(owner).length === 0;
  });
}

/** The model whose forward a call runs: `teacher(x)`, `teacher.forward(x)`. */
function modelOf(call: Call): Expression | undefined {
  const { callee } = call;
  if (callee.kind === "Attribute" && callee.attribute.id === "forward") return callee.object;
  return callee.kind === "Name" || callee.kind === "Attribute" ? callee : undefined;
}

/** The calls whose graph a backward of this file walks. */
function walkedCalls({ torch }: RuleContext<MessageId>): ReadonlyMap<Node, BackwardCall> {
  const walked = new Map<Node, BackwardCall>();
  for (const backward of torch.provenance.backwards) {
    for (const value of backward.values) {
      for (const source of torch.provenance.graphCalls(value))
        if (!walked.has(source)) walked.set(source, backward);
    }
  }
  return walked;
}

/** The loss has a graph of something else too: one that hangs on this model alone is there to train or differentiate it. */
function teachesAnother(
  { torch }: RuleContext<MessageId>,
  backward: BackwardCall,
  model: Expression,
): boolean {
  const { resolve, provenance } = torch;
  const key = resolve.keyOf(model);
  const isOther = (source: Node): boolean => {
    const called = source.kind === "Call" ? modelOf(source) : undefined;
    return called === undefined || resolve.keyOf(called) !== key;
  };
  return backward.values.some((value) => [...provenance.carried(value).sources].some(isOther));
}

/** The call builds a graph, and nothing in the file freezes the model or looks at its gradients. */
function recordsForNobody(context: RuleContext<MessageId>, call: Call, model: Expression): boolean {
  const { torch } = context;
  const { provenance } = torch;
  if (provenance.gradientMode(call) !== "on" || provenance.carriedHere(call).graph !== "yes") return false;
  return !mayBeFrozen(torch, model) && !readsGradients(context, model);
}

function isUntrained({ torch }: RuleContext<MessageId>, model: Expression): boolean {
  return modelOwnership(torch).ownerOf(model) === "not-owned";
}

function isOwned({ torch }: RuleContext<MessageId>, model: Expression): boolean {
  return modelOwnership(torch).ownerOf(model) === "owned";
}

/** The argument may bring a graph of its own into the model. */
function mayCarry({ torch }: RuleContext<MessageId>, argument: Expression): boolean {
  const { provenance, resolve } = torch;
  const here: Carried = provenance.carriedHere(argument);
  if (here.graph !== "no") return true;
  // Inputs that require gradients themselves: attacks, inversions.
  if (requiresGradient(torch, argument)) return true;
  return here.parameters.some(
    (use) => resolve.callsTo(use.owner).length > 0 && provenance.carried(argument).graph !== "no",
  );
}

function requiresGradient({ resolve }: RuleContext["torch"], argument: Expression): boolean {
  const key = resolve.keyOf(argument);
  if (key === undefined) return false;
  const isMarked = ["requires_grad", "requires_grad_"].some((name) =>
    resolve.index.attributesByName.get(name)?.some(({ object }) => resolve.keyOf(object) === key),
  );
  return isMarked || resolve.valuesOf(argument).some((value) => asksForGradient(value));
}

/** `torch.randn(…, requires_grad=True)`, `torch.nn.Parameter(…)`, `x.clone().requires_grad_()`. */
function asksForGradient(value: Expression): boolean {
  if (value.kind !== "Call") return false;
  return (
    /^(Parameter|requires_grad_)$/.test(lastName(value.callee) ?? "") ||
    value.keywords.some(({ name }) => name.id === "requires_grad")
  );
}

/** Its gradients are what the script is after: `p.grad` over its parameters, `autograd.grad(loss, model.parameters())`. */
function readsGradients({ torch }: RuleContext<MessageId>, model: Expression): boolean {
  const { resolve } = torch;
  const key = resolve.keyOf(model);
  if (key === undefined) return false;
  const givesParameters = (node: Node): boolean =>
    node.kind === "Attribute" &&
    /^(named_)?parameters$/.test(node.attribute.id) &&
    resolve.keyOf(node.object) === key;
  const read = (resolve.index.attributesByName.get("grad") ?? []).some((gradient) => {
    if (resolve.keyOf(gradient)?.startsWith(`${key}.`)) return true;
    return [...ancestors(gradient)].some(
      (at) =>
        (at.kind === "For" && someNode(at.iterable, givesParameters)) ||
        (at.kind === "Comprehension" &&
          at.clauses.some(({ iterable }) => someNode(iterable, givesParameters))),
    );
  });
  if (read) return true;
  return torch.provenance.backwards.some(({ call }) =>
    [...call.positional.slice(1), ...call.keywords.map(({ value }) => value)].some((argument) =>
      someNode(argument, givesParameters),
    ),
  );
}

function evalCallOf({ torch }: RuleContext<MessageId>, model: Expression): Call | undefined {
  const { resolve } = torch;
  const key = resolve.keyOf(model);
  if (key === undefined) return undefined;
  const on = (method: string): Call | undefined => firstCallsOn(resolve, method).get(key);
  return on("train") === undefined ? (on("eval") ?? evalInChain(resolve.valuesOf(model))) : undefined;
}

const knownFirstCalls = new FileMemo<Map<string, ReadonlyMap<string, Call>>>();

/** The first call of a method on each object, by the object's key. */
function firstCallsOn(resolve: Resolver, method: string): ReadonlyMap<string, Call> {
  const byMethod = knownFirstCalls.of(resolve.module, () => new Map<string, ReadonlyMap<string, Call>>());
  let first = byMethod.get(method);
  if (first === undefined) byMethod.set(method, (first = findFirstCallsOn(resolve, method)));
  return first;
}

function findFirstCallsOn(resolve: Resolver, method: string): ReadonlyMap<string, Call> {
  const first = new Map<string, Call>();
  for (const call of resolve.index.callsByName.get(method) ?? []) {
    const key = call.callee.kind === "Attribute" ? resolve.keyOf(call.callee.object) : undefined;
    if (key !== undefined && !first.has(key)) first.set(key, call);
  }
  return first;
}

/** `teacher = Net().cuda().eval()`. */
function evalInChain(values: readonly Expression[]): Call | undefined {
  for (const value of values) {
    for (let at = value; at.kind === "Call" && at.callee.kind === "Attribute"; at = at.callee.object)
      if (at.callee.attribute.id === "eval" && at.positional.length === 0) return at;
  }
  return undefined;
}

/** `target = copy.deepcopy(model)`. */
function isCopy({ torch }: RuleContext<MessageId>, model: Expression): boolean {
  return torch.resolve
    .valuesOf(model)
    .some((value) => value.kind === "Call" && torch.resolve.qualifiedName(value.callee) === "copy.deepcopy");
}

/** `target.load_state_dict(model.state_dict())`. */
function takesOverWeights({ torch: { resolve } }: RuleContext<MessageId>, model: Expression): boolean {
  const key = resolve.keyOf(model);
  return (resolve.index.callsByName.get("load_state_dict") ?? []).some(({ callee, positional: [state] }) => {
    if (callee.kind !== "Attribute" || key === undefined || resolve.keyOf(callee.object) !== key)
      return false;
    if (state?.kind !== "Call" || state.callee.kind !== "Attribute") return false;
    const source = resolve.keyOf(state.callee.object);
    return state.callee.attribute.id === "state_dict" && source !== undefined && source !== key;
  });
}

function report(
  context: RuleContext<MessageId>,
  call: Call,
  model: Expression,
  object: ResolvedObject,
  walk: { readonly at: Node; readonly message: "backward" | "trainer" },
  evalCall: Call | undefined,
): void {
  const named = object.certainty === "name";
  context.report({
    at: call,
    message: named ? "named" : "walked",
    values: {
      call: excerpt(context.source, call),
      model: excerpt(context.source, model),
      size: named ? unknownSize : sizeOfGraph(call, evalCall === undefined, context),
      weights: named ? unknownSize : sizeOfGradients(model, context),
    },
    ...(named ? { level: oneLower("warning") } : {}),
    related: [...(evalCall ? [{ at: evalCall, message: "evalCall" as const }] : []), walk],
    fixes: fixesFor(context, call),
  });
}

function reportThrough(
  context: RuleContext<MessageId>,
  call: Call,
  model: Expression,
  backward: BackwardCall,
  evalCall: Call,
): void {
  context.report({
    at: call,
    message: "through",
    values: { model: excerpt(context.source, model), weights: sizeOfGradients(model, context) },
    related: [
      { at: evalCall, message: "evalCall" },
      { at: backward.call, message: "backward" },
    ],
    fixes: freezing(context, evalCall),
  });
}

/** Behind `model.eval()`, or behind the assignment whose value ends with it. */
function freezing(
  { source }: RuleContext<MessageId>,
  evalCall: Call,
): NonNullable<Report<MessageId>["fixes"]> {
  const statement = enclosingStatement(evalCall);
  const [target] = statement?.kind === "Assign" && statement.targets.length === 1 ? statement.targets : [];
  const receiver =
    statement?.kind === "ExpressionStatement" && evalCall.callee.kind === "Attribute"
      ? evalCall.callee.object
      : target;
  if (statement === undefined || (receiver?.kind !== "Name" && receiver?.kind !== "Attribute")) return [];
  const model = source.slice(receiver);
  const edit = insertLineAfter(source, statement, `${model}.requires_grad_(False)`);
  return edit ? [{ title: "freeze", values: { model }, safety: "review", edits: [edit] }] : [];
}

function fixesFor(context: RuleContext<MessageId>, call: Call): NonNullable<Report<MessageId>["fixes"]> {
  const statement = enclosingStatement(call);
  if (statement?.kind !== "Assign" || runsOthers(context, statement, call)) return [];
  const noGrad = contextCall("no_grad", context);
  const edits = wrapInWith(context.source, context.module, [statement], noGrad.text);
  if (edits === undefined) return [];
  return [
    { title: "wrap", values: { context: noGrad.text }, safety: "review", edits: [...noGrad.edits, ...edits] },
  ];
}

/** The statement holds more that carries a graph: `loss = mse(student(x), teacher(x))`. */
function runsOthers({ torch }: RuleContext<MessageId>, statement: Statement, call: Call): boolean {
  if (statement.kind !== "Assign") return true;
  const { sources } = torch.provenance.carriedHere(statement.value);
  if ([...sources].some((source) => source !== call)) return true;
  return [...callsWithin(torch.resolve.index, statement)].some(
    (other) => other !== call && torch.resolve.roleOf(other.callee) === "model",
  );
}
