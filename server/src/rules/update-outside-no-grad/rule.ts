/** A parameter updated by hand, `w = w - lr * w.grad`, while autograd records. */
import { keyword } from "../../python/keyword";
import type { AugmentedAssign, Assign, Attribute, Call, Expression, Statement } from "../../python/tree";
import { enclosingStatement, statementList, walk } from "../../python/walk";
import { callsWithKeyword } from "../../torch/resolve-index";
import { excerpt } from "../excerpt";
import { wrapInWith } from "../fix";
import { contextCall } from "../no-grad-context";
import { defineRule, type RuleContext } from "../rule";

type MessageId = "rebound" | "rebindsParameter" | "rebindsLoop" | "inPlace" | "wrap";

export const rule = defineRule<MessageId>({
  name: "update-outside-no-grad",
  group: "gradient-modes",
  level: "warning",
  summary: {
    en: "A parameter is updated by hand while gradients are on.",
    "zh-cn": "在开启梯度的情况下手动更新参数。",
  },
  messages: {
    rebound: {
      en: "`{update}` with gradients on makes `{variable}` the result of an operation: it is no leaf any more, its `.grad` stays `None` after the next backward, and its graph still holds the old `{variable}`. Update it in place under `torch.no_grad()`: `{fixed}`.",
      "zh-cn":
        "在开启梯度时执行 `{update}`，`{variable}` 就成了一次运算的结果：它不再是叶子张量，下一次 backward 之后它的 `.grad` 仍是 `None`，而且它的计算图还引用着旧的 `{variable}`。请在 `torch.no_grad()` 下原地更新：`{fixed}`。",
    },
    rebindsParameter: {
      en: "`{update}` fails: `{variable}` is a parameter of its module, which takes nothing but an `nn.Parameter` under that name. Update it in place under `torch.no_grad()`: `{fixed}`.",
      "zh-cn":
        "`{update}` 会失败：`{variable}` 是模块的参数，模块在这个名字下只接受 `nn.Parameter`。请在 `torch.no_grad()` 下原地更新：`{fixed}`。",
    },
    rebindsLoop: {
      en: "`{update}` only gives the name `{variable}` a new tensor: the model's parameter stays as it was. Update it in place under `torch.no_grad()`: `{fixed}`.",
      "zh-cn":
        "`{update}` 只是让名字 `{variable}` 指向一个新的张量：模型的参数没有改变。请在 `torch.no_grad()` 下原地更新：`{fixed}`。",
    },
    inPlace: {
      en: '`{update}` changes a leaf that requires gradients while autograd records: it fails ("a leaf Variable that requires grad is being used in an in-place operation"). Run it under `torch.no_grad()`.',
      "zh-cn":
        "`{update}` 在自动求导记录期间修改需要梯度的叶子张量：会失败（“a leaf Variable that requires grad is being used in an in-place operation”）。请在 `torch.no_grad()` 下运行。",
    },
    wrap: { en: "Wrap in `with {context}:`", "zh-cn": "用 `with {context}:` 包裹" },
  },
  create(context) {
    return {
      finish() {
        const seen = new Set<Statement>();
        for (const read of context.torch.resolve.index.attributesByName.get("grad") ?? []) {
          const statement = enclosingStatement(read);
          if (statement === undefined || seen.has(statement)) continue;
          seen.add(statement);
          check(context, statement, read);
        }
      },
    };
  },
});

interface Update {
  /** The variable, `w`. */
  readonly variable: Expression;
  readonly kind: "rebound" | "in-place";
}

function check(context: RuleContext<MessageId>, statement: Statement, gradient: Attribute): void {
  const { torch, source } = context;
  const update = updateIn(torch, statement, gradient);
  if (update === undefined) return;
  const leaf = leafKind(torch, update.variable);
  if (leaf === undefined || torch.provenance.gradientMode(statement) !== "on") return;
  if (update.kind === "rebound" && (isMadeAgain(torch, statement, update.variable) || isInnerLoop(torch)))
    return;
  const variable = source.slice(update.variable);
  const noGrad = contextCall("no_grad", context);
  const edits =
    update.kind === "in-place" ? wrapInWith(source, context.module, [statement], noGrad.text) : undefined;
  context.report({
    at: statement,
    message: update.kind === "in-place" ? "inPlace" : rebindingOf(torch, update.variable, leaf),
    values: { update: excerpt(source, statement), variable, fixed: `${variable} -= …` },
    fixes:
      edits === undefined
        ? []
        : [
            {
              title: "wrap",
              values: { context: noGrad.text },
              safety: "review",
              edits: [...noGrad.edits, ...edits],
            },
          ],
  });
}

/** `w = w - … w.grad …`, `w -= … w.grad …`, `w.sub_(… w.grad …)`. */
function updateIn(
  torch: RuleContext["torch"],
  statement: Statement,
  gradient: Attribute,
): Update | undefined {
  switch (statement.kind) {
    case "Assign":
      return rebinding(torch, statement, gradient);
    case "AugmentedAssign":
      return augmented(torch, statement, gradient);
    case "ExpressionStatement":
      return statement.expression.kind === "Call"
        ? inPlaceCall(torch, statement.expression, gradient)
        : undefined;
    default:
      return undefined;
  }
}

function rebinding(torch: RuleContext["torch"], statement: Assign, gradient: Attribute): Update | undefined {
  const [target] = statement.targets;
  const { value } = statement;
  if (target === undefined || statement.targets.length !== 1 || value.kind !== "BinaryOperation")
    return undefined;
  if (value.operator !== "-" || !isSame(torch, target, value.left) || !isSame(torch, target, gradient.object))
    return undefined;
  return usesSign(value.right) ? undefined : { variable: target, kind: "rebound" };
}

function augmented(
  torch: RuleContext["torch"],
  statement: AugmentedAssign,
  gradient: Attribute,
): Update | undefined {
  const { target, operator, value } = statement;
  if ((operator !== "-" && operator !== "+") || !isSame(torch, target, gradient.object)) return undefined;
  return value.start <= gradient.start ? { variable: target, kind: "in-place" } : undefined;
}

function inPlaceCall(torch: RuleContext["torch"], call: Call, gradient: Attribute): Update | undefined {
  const { callee } = call;
  if (callee.kind !== "Attribute" || !/^(sub_|add_|addcdiv_|copy_)$/.test(callee.attribute.id))
    return undefined;
  if (!isSame(torch, callee.object, gradient.object) || gradient.start < call.argumentList.start)
    return undefined;
  return { variable: callee.object, kind: "in-place" };
}

function isSame({ resolve }: RuleContext["torch"], one: Expression, other: Expression): boolean {
  const key = resolve.keyOf(one);
  return key !== undefined && key === resolve.keyOf(other);
}

/** Steps along the sign of a gradient move inputs, not weights. */
function usesSign(value: Expression): boolean {
  let found = false;
  walk(value, {
    enter(node) {
      if (node.kind === "Attribute" && /^sign/.test(node.attribute.id)) found = true;
    },
  });
  return found;
}

/** What kind of leaf a variable is: one made here to require gradients, or an element of `model.parameters()`. */
/** What becomes of a variable that is bound to the result of its update. */
function rebindingOf(
  { resolve }: RuleContext["torch"],
  variable: Expression,
  leaf: "own" | "of-model",
): MessageId {
  if (leaf === "of-model") return "rebindsLoop";
  if (variable.kind !== "Attribute") return "rebound";
  const owner = resolve.classOf(variable.object);
  const isParameter = resolve
    .valuesOf(variable)
    .some((value) => value.kind === "Call" && resolve.qualifiedName(value.callee) === "torch.nn.Parameter");
  return isParameter && owner !== undefined && resolve.isModuleClass(owner) ? "rebindsParameter" : "rebound";
}

function leafKind(torch: RuleContext["torch"], variable: Expression): "own" | "of-model" | undefined {
  const { resolve, scopes } = torch;
  if (resolve.valuesOf(variable).some((value) => isLeaf(torch, value))) return "own";
  const key = resolve.keyOf(variable);
  const marked = (resolve.index.callsByName.get("requires_grad_") ?? []).some(
    ({ callee, positional }) =>
      callee.kind === "Attribute" && resolve.keyOf(callee.object) === key && positional.length === 0,
  );
  if (marked && key !== undefined) return "own";
  if (variable.kind !== "Name") return undefined;
  const isElement = scopes.lookup(variable).some(({ kind, value }) => {
    if (kind !== "for" || value?.kind !== "Call" || value.callee.kind !== "Attribute") return false;
    return (
      /^(named_)?parameters$/.test(value.callee.attribute.id) &&
      resolve.roleOf(value.callee.object) === "model"
    );
  });
  return isElement ? "of-model" : undefined;
}

function isLeaf({ resolve }: RuleContext["torch"], value: Expression): boolean {
  if (value.kind !== "Call") return false;
  const name = resolve.qualifiedName(value.callee);
  if (name === "torch.nn.Parameter") return true;
  if (name === undefined) {
    const { callee } = value;
    return (
      callee.kind === "Attribute" && callee.attribute.id === "requires_grad_" && value.positional.length === 0
    );
  }
  const asks = value.keywords.some(
    (keyword) =>
      keyword.name.id === "requires_grad" && keyword.value.kind === "Boolean" && keyword.value.value,
  );
  return asks && /^torch\./.test(name);
}

/** Right behind it the variable becomes a leaf again: `w = w.detach().requires_grad_()`. */
function isMadeAgain({ resolve }: RuleContext["torch"], statement: Statement, variable: Expression): boolean {
  const place = statementList(statement);
  const key = resolve.keyOf(variable);
  return (
    place?.list.slice(place.index + 1).some((later) => {
      if (later.kind === "Assign") return later.targets.some((target) => resolve.keyOf(target) === key);
      if (later.kind !== "ExpressionStatement" || later.expression.kind !== "Call") return false;
      const { callee } = later.expression;
      return callee.kind === "Attribute" && resolve.keyOf(callee.object) === key;
    }) ?? false
  );
}

/** Meta-learning steps through its updates on purpose. */
function isInnerLoop({ resolve }: RuleContext["torch"]): boolean {
  return callsWithKeyword(resolve, "create_graph").some((call) => {
    const value = keyword(call, "create_graph");
    return value?.kind === "Boolean" && value.value;
  });
}
