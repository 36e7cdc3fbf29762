/** Gradients switched on inside a function that evaluates and never calls backward. */
import { lastName } from "../../python/last-name";
import type { Call, Expression, FunctionDefinition, Node, Statement } from "../../python/tree";
import { ancestors, statementList, walk } from "../../python/walk";
import { enableGradContext, setGradEnabled } from "../../torch/api";
import { excerpt } from "../excerpt";
import { defineRule, oneLower, type RuleContext } from "../rule";
import { callsWithin } from "../../torch/resolve-index";

type MessageId = "enabled" | "named" | "forward";

export const rule = defineRule<MessageId>({
  name: "grad-enabled-in-eval",
  group: "gradient-modes",
  level: "warning",
  summary: {
    en: "An evaluation function turns gradients on and never calls backward.",
    "zh-cn": "评估函数开启了梯度，却从不调用 backward。",
  },
  messages: {
    enabled: {
      en: "`{switch}` turns gradients on in `{function}`, which never calls backward: `{call}` builds a graph, and the activations that a backward would need stay as long as a tensor with that graph lives. Use `torch.no_grad()` in its place.",
      "zh-cn":
        "`{switch}` 在 `{function}` 中开启了梯度，但该函数从不调用 backward：`{call}` 会建立计算图，只要还有张量带着这个计算图，反向传播所需的激活就会保留。请改用 `torch.no_grad()`。",
    },
    named: {
      en: "If `{model}` is a model with trainable parameters: `{switch}` turns gradients on in `{function}`, which never calls backward, so `{call}` builds a graph, and the activations that a backward would need stay as long as a tensor with that graph lives. Use `torch.no_grad()` in its place.",
      "zh-cn":
        "如果 `{model}` 是带有可训练参数的模型：`{switch}` 在 `{function}` 中开启了梯度，但该函数从不调用 backward，因此 `{call}` 会建立计算图，只要还有张量带着这个计算图，反向传播所需的激活就会保留。请改用 `torch.no_grad()`。",
    },
    forward: { en: "This forward builds a graph.", "zh-cn": "这次前向传播会建立计算图。" },
  },
  calls: ["enable_grad", "set_grad_enabled"],
  create: (context) => ({
    Call(call) {
      check(context, call);
    },
  }),
});

const evaluationName =
  /(^|_)(eval|evaluate|evaluation|validate|validation|valid|val|test|testing|predict|inference|infer)(_|\d|$)/;
/** Evaluations that want gradients, and functions that train as well. */
const wantsGradients =
  /attack|adversar|perturb|fgsm|pgd|salien|grad|explain|attribut|adapt|tune|train|fit|step|energy|force|langevin|guid|optimi[sz]|invert|hessian|jacobian|loss|update/i;

function check(context: RuleContext<MessageId>, call: Call): void {
  const { torch, source } = context;
  if (!turnsOn(context, call)) return;
  const owner = ownerOf(call);
  if (owner === undefined || !evaluationName.test(owner.name.id) || wantsGradients.test(owner.name.id))
    return;
  const covered = coveredBy(call, owner);
  const forward = covered
    .map((statement) => forwardIn(context, statement))
    .find((found) => found !== undefined);
  if (forward === undefined || usesGradients(context, owner) || isReportedAlready(context, forward)) return;
  const object = torch.resolve.objectOf(forward.callee);
  const named = object?.certainty !== "resolved";
  context.report({
    at: call,
    message: named ? "named" : "enabled",
    values: {
      switch: excerpt(source, call),
      function: owner.name.id,
      call: excerpt(source, forward),
      model: excerpt(source, forward.callee),
    },
    ...(named ? { level: oneLower("warning") } : {}),
    related: [{ at: forward, message: "forward" }],
  });
}

/** `eval-without-no-grad` says the same of this forward. */
function isReportedAlready({ torch }: RuleContext<MessageId>, forward: Call): boolean {
  return torch.provenance.evaluationPasses.some(({ forwards }) => forwards.includes(forward));
}

/** `torch.enable_grad()`, `torch.set_grad_enabled(True)`. */
function turnsOn({ torch }: RuleContext<MessageId>, call: Call): boolean {
  const name = torch.resolve.qualifiedName(call.callee);
  if (name === enableGradContext) return true;
  const [mode] = [...call.positional, ...call.keywords.map(({ value }) => value)];
  return name === setGradEnabled && mode?.kind === "Boolean" && mode.value;
}

/** The function whose body it stands in, or that it decorates. */
function ownerOf(call: Call): FunctionDefinition | undefined {
  for (const at of ancestors(call)) {
    if (at.kind === "FunctionDefinition") return at;
    if (at.kind === "Lambda" || at.kind === "ClassDefinition") return undefined;
  }
  return undefined;
}

/** The statements that run with gradients because of the switch. */
function coveredBy(call: Call, owner: FunctionDefinition): readonly Statement[] {
  for (const at of ancestors(call)) {
    if (at.kind === "With" && at.items.some(({ context }) => context === call)) return at.body;
    if (at.kind === "ExpressionStatement" && at.expression === call) {
      const place = statementList(at);
      return place?.list.slice(place.index + 1) ?? [];
    }
    if (at === owner) return owner.decorators.some(({ expression }) => expression === call) ? owner.body : [];
  }
  return [];
}

/** The first forward of a trainable model that records. */
function forwardIn({ torch }: RuleContext<MessageId>, statement: Statement): Call | undefined {
  const { resolve, provenance } = torch;
  return [...callsWithin(resolve.index, statement)].find((call) => {
    if (
      resolve.qualifiedName(call.callee) !== undefined ||
      call.positional.length + call.keywords.length === 0
    )
      return false;
    if (resolve.objectOf(call.callee)?.role !== "model" || resolve.isFrozen(call.callee)) return false;
    return provenance.modes.lexicallyAt(call) === "on" && provenance.carriedHere(call).graph === "yes";
  });
}

/** Anything in the function, or in what it calls, that computes or asks for gradients. */
function usesGradients({ torch }: RuleContext<MessageId>, owner: FunctionDefinition): boolean {
  const nodes: Node[] = [owner, ...torch.provenance.reach.functionsFrom([owner])];
  return nodes.some((node) => {
    let found = false;
    walk(node, {
      enter(at) {
        if (at.kind === "Attribute" && gradientAttribute.test(at.attribute.id)) found = true;
        if (at.kind === "Call" && mayUseGradients(torch, at.callee)) found = true;
        return !found;
      },
    });
    return found;
  });
}

const gradientAttribute = /^(backward|grad|requires_grad_?|autograd|manual_backward|retain_grad)$/;

/** `attack(model, x)` of another file. */
function mayUseGradients({ resolve }: RuleContext["torch"], callee: Expression): boolean {
  const name = lastName(callee) ?? "";
  if (name === "enable_grad" || name === "set_grad_enabled" || name === "no_grad") return false;
  if (/^(torch|builtins)\./.test(resolve.qualifiedName(callee) ?? "")) return false;
  return wantsGradients.test(name) && !/loss|criterion/i.test(name);
}
