/** `x = torch.cat([x, y])` in a loop over batches: each iteration copies all that was collected before. */
import { lastName } from "../../python/last-name";
import type { Assign, Call, Expression, If, Node, Statement, Subscript } from "../../python/tree";
import {
  ancestors,
  enclosingFunction,
  enclosingLoop,
  enclosingStatement,
  isWithin,
  someNode,
} from "../../python/walk";
import { headOf } from "../../torch/per-batch";
import { containerOf } from "../../torch/provenance/held-objects";
import { sameVariable } from "../../torch/provenance/stores";
import type { Resolver } from "../../torch/resolve";
import { excerpt } from "../excerpt";
import { defineRule, type RuleContext } from "../rule";
import { loopOfCallers } from "./helper";

type MessageId = "grows" | "loop";
type Loop = NonNullable<ReturnType<typeof enclosingLoop>>;

export const rule = defineRule<MessageId>({
  name: "cat-in-loop",
  group: "graph",
  level: "warning",
  summary: {
    en: "A tensor grows by `torch.cat` in each iteration of a loop over batches.",
    "zh-cn": "在遍历批次的循环中，张量在每次迭代都用 `torch.cat` 增长。",
  },
  messages: {
    grows: {
      en: "`{call}` makes a new `{variable}` each time and copies into it all that was collected before: n times copy about n²/2 of the pieces, and the old and the new tensor exist at once. Append each piece to a list, and call `{join}` once after the loop.",
      "zh-cn":
        "`{call}` 每次都新建一个 `{variable}`，并把之前收集的全部内容复制进去：n 次约复制 n²/2 份，而且新旧两个张量会同时存在。请把每一份追加到列表，循环结束后只调用一次 `{join}`。",
    },
    loop: { en: "This loop runs once a batch.", "zh-cn": "这个循环每个批次执行一次。" },
  },
  calls: ["cat", "concat", "concatenate", "vstack", "hstack"],
  create: (context) => ({
    Call(call) {
      if (joining.test(context.torch.resolve.qualifiedName(call.callee) ?? "")) check(context, call);
    },
  }),
});

const joining = /^torch\.(cat|concat|concatenate|vstack|hstack)$/;
/** Keys and values of attention, and what is generated token by token, grow by their nature. */
const growsByNature =
  /cache|past|(^|_)(k|v|key|value)s?$|(input_)?ids$|tokens?$|generated|sequence|seq$|prompt|mems?$|memory|queue|buffer/i;

function check(context: RuleContext<MessageId>, call: Call): void {
  const { torch, source } = context;
  const statement = enclosingStatement(call);
  if (statement?.kind !== "Assign" || statement.targets.length !== 1 || !givesItsValue(statement, call))
    return;
  const [target] = statement.targets;
  if (target?.kind !== "Name" && target?.kind !== "Attribute" && target?.kind !== "Subscript") return;
  const key = torch.resolve.keyOf(containerOf(target));
  if (key === undefined || growsByNature.test(source.slice(target))) return;
  const isTarget = (one: Expression): boolean => sameVariable(one, target, torch.resolve);
  if (!takesIn(call, isTarget) || isInModel(torch, call) || isSmall(torch, call, isTarget)) return;
  const loop =
    target.kind === "Subscript"
      ? (loopOfElement(context, statement, target, key) ?? loopOfCallers(context, statement, target))
      : loopOf(context, statement, key);
  if (loop === undefined) return;
  if (target.kind !== "Subscript" && isReadIn(context, loop, statement, key)) return;
  context.report({
    at: call,
    message: "grows",
    values: {
      call: excerpt(source, call),
      variable: source.slice(target),
      join: `${source.slice(call.callee)}(…)`,
    },
    related: [{ at: headOf(loop), message: "loop" }],
  });
}

/** What was gathered so far is used in each iteration: it has to be one tensor there. Who asks for its size or whether it is there may. */
function isReadIn({ torch }: RuleContext<MessageId>, loop: Loop, statement: Assign, key: string): boolean {
  return torch.provenance.flow.readsOf(key).some((read) => {
    if (!isWithin(read, loop) || isWithin(read, statement)) return false;
    const parts = [...ancestors(read)].slice(0, 4);
    const asks = parts.some(
      (at) =>
        (at.kind === "If" && isWithin(read, at.test)) ||
        (at.kind === "Attribute" && /^(shape|size|numel|dim|ndim|device|dtype)$/.test(at.attribute.id)) ||
        (at.kind === "Call" && at.callee.kind === "Name" && at.callee.id === "len"),
    );
    return !asks;
  });
}

/** The call is what is assigned, or one arm of it: `y if x is None else torch.cat([x, y])`. */
function givesItsValue({ value }: Assign, call: Call): boolean {
  if (value === call) return true;
  return value.kind === "Conditional" && (value.body === call || value.orelse === call);
}

/** The variable is one of several that are joined. */
function takesIn(call: Call, isTarget: (one: Expression) => boolean): boolean {
  const [first] = call.positional;
  if (first?.kind !== "List" && first?.kind !== "Tuple") return false;
  return first.elements.length > 1 && first.elements.some(isTarget);
}

/** Labels as the loader gives them and class indices: a number a sample, for which nobody would rewrite a loop. */
function isSmall(
  { resolve }: RuleContext["torch"],
  call: Call,
  isTarget: (one: Expression) => boolean,
): boolean {
  const [first] = call.positional;
  if (first?.kind !== "List" && first?.kind !== "Tuple") return false;
  const added = first.elements.filter((element) => !isTarget(element));
  const [grown] = first.elements.filter(isTarget);
  return added.every(
    (element) =>
      isClassIndex(resolve, element) ||
      isLabel(resolve, element) ||
      (grown !== undefined && isCalledLabel(grown) && !isMadeByModel(resolve, element)),
  );
}

/** `scores.argmax(1)`, or the second result of `torch.max(scores, 1)`. */
function isClassIndex({ scopes }: Resolver, element: Expression): boolean {
  if (element.kind === "Name") {
    const bindings = scopes.lookup(element);
    return (
      bindings.length > 0 &&
      bindings.every(
        ({ value, path }) =>
          path.length === 1 &&
          path[0] === 1 &&
          value?.kind === "Call" &&
          /^(max|min|topk)$/.test(lastName(value.callee) ?? ""),
      )
    );
  }
  return (
    element.kind === "Call" &&
    element.callee.kind === "Attribute" &&
    /^arg(max|min)$/.test(element.callee.attribute.id)
  );
}

/** Named like labels, and no model made it. */
function isLabel(resolve: Resolver, element: Expression): boolean {
  return isCalledLabel(element) && !isMadeByModel(resolve, element);
}

function isCalledLabel(element: Expression): boolean {
  return /(^|_)(labels?|targets?|y(_true)?|gts?|truth|class(es)?)(_|$)/i.test(
    lastName(receiverOf(element)) ?? "",
  );
}

function isMadeByModel(resolve: Resolver, element: Expression): boolean {
  return [element, ...resolve.valuesOf(receiverOf(element))].some((value) => isOfModel(resolve, value));
}

/** `labels` of `labels.cpu().view(-1)`. */
function receiverOf(element: Expression): Expression {
  let at = element;
  while (at.kind === "Call" && at.callee.kind === "Attribute") at = at.callee.object;
  return at;
}

function isOfModel(resolve: Resolver, value: Expression): boolean {
  return value.kind === "Call" && resolve.roleOf(value.callee) === "model";
}

/** A model's own code decides what it keeps. */
function isInModel({ resolve }: RuleContext["torch"], call: Call): boolean {
  for (let at = enclosingFunction(call); at !== undefined; at = enclosingFunction(at)) {
    const owner = at.kind === "FunctionDefinition" ? resolve.enclosingClass(at) : undefined;
    if (owner !== undefined && resolve.isModuleClass(owner)) return true;
  }
  return false;
}

/**
 * The loop over batches through which the variable grows: nothing in it begins it anew, and it goes on behind the statement.
 * `if i == 0: x = y` of an inner loop over `i` begins it anew in each iteration of the loops around that one.
 */
function loopOf({ torch }: RuleContext<MessageId>, statement: Assign, key: string): Loop | undefined {
  const { flow } = torch.provenance;
  let inner: Loop | undefined;
  for (let loop = enclosingLoop(statement); loop !== undefined; inner = loop, loop = enclosingLoop(loop)) {
    const around = loop;
    const inside = flow.definitionsOf(key).filter(({ target }) => isWithin(target, around));
    const others = inside.filter(({ node }) => node !== statement);
    if (others.some(({ node }) => !isFirstTime(torch, statement, node as Statement, key))) return undefined;
    const test = firstTimeTest(statement, others.length > 0);
    if (inner !== undefined && test !== undefined && comesAnew(torch, test, around, inner)) return undefined;
    if (torch.trainingLoops.isBatchLoop(loop)) return loop;
  }
  return undefined;
}

/** What asks whether this is the first time: of `y if i == 0 else torch.cat([x, y])`, or of the `if` whose other arm begins. */
function firstTimeTest({ parent, value }: Assign, begins: boolean): Expression | undefined {
  if (value.kind === "Conditional") return value.test;
  return begins && parent?.kind === "If" ? parent.test : undefined;
}

/**
 * The test comes true again in each iteration of the outer loop: a name in it is given a new value there, before the inner loop
 * or as its target. Of `step == 0 and scale == 0.5` each part has to.
 */
function comesAnew(torch: RuleContext["torch"], test: Expression, outer: Loop, inner: Loop): boolean {
  if (test.kind === "BooleanOperation" && test.operator === "and")
    return test.operands.every((part) => comesAnew(torch, part, outer, inner));
  const { resolve, provenance } = torch;
  const isIn = (node: Node, { body }: Loop): boolean => body.some((one) => isWithin(node, one));
  return someNode(test, (node) => {
    const key = node.kind === "Name" ? resolve.keyOf(node) : undefined;
    if (key === undefined) return false;
    return provenance.flow
      .definitionsOf(key)
      .some(
        ({ node: defining, target }) =>
          isIn(target, outer) && !isIn(target, inner) && !readsItself(resolve, defining, key),
      );
  });
}

/** `step += 1`, `step = step + 1`. */
function readsItself(resolve: Resolver, defining: Node, key: string): boolean {
  if (defining.kind === "AugmentedAssign") return true;
  if (defining.kind !== "Assign") return false;
  return someNode(defining.value, (at) => at.kind === "Name" && resolve.keyOf(at) === key);
}

/**
 * The same for an element whose key is the same in every iteration: `d["x"]`, not `d[label]`. The container is looked at
 * nowhere else in the loop: whoever does may take something out of it.
 */
function loopOfElement(
  context: RuleContext<MessageId>,
  statement: Assign,
  target: Subscript,
  key: string,
): Loop | undefined {
  const { torch } = context;
  if (target.index.kind !== "String" || target.object.kind === "Subscript") return undefined;
  if (growsByNature.test(target.index.value ?? "")) return undefined;
  const loop = loopOf(context, statement, key);
  if (loop === undefined) return undefined;
  const reads = torch.provenance.flow.readsOf(key).filter((one) => isWithin(one, loop));
  const isOurs = (read: Expression): boolean => {
    if (isWithin(read, statement)) return true;
    const other = enclosingStatement(read);
    const { parent } = statement;
    if (parent?.kind === "If" && (other === parent || (other && opposite(parent, statement, other))))
      return true;
    // Other elements of the container grow beside this one.
    const element = read.parent;
    return (
      element?.kind === "Subscript" &&
      element.index.kind === "String" &&
      !sameVariable(element, target, torch.resolve)
    );
  };
  return reads.every(isOurs) ? loop : undefined;
}

/**
 * `x = y` in the other arm of an `if` that asks whether this is the first batch. An arm that reads the variable makes use of
 * what was gathered and begins anew: `else: model(x); x = torch.zeros(0)`.
 */
function isFirstTime(torch: RuleContext["torch"], statement: Assign, other: Statement, key: string): boolean {
  const { parent } = statement;
  if (parent?.kind !== "If" || other.parent !== parent || !opposite(parent, statement, other)) return false;
  const arm = parent.body.includes(other) ? parent.body : parent.orelse;
  const reads = torch.provenance.flow.readsOf(key);
  return !reads.some((read) => arm.some((one) => isWithin(read, one)));
}

function opposite({ body, orelse }: If, one: Statement, other: Statement): boolean {
  return (body.includes(one) && orelse.includes(other)) || (orelse.includes(one) && body.includes(other));
}
