/** The host waits for the GPU again and again in one batch: after each operation, or for each element of a tensor. */
import type { Call, Comprehension, Expression, For, Node, While } from "../../python/tree";
import { ancestors, enclosingLoop, enclosingStatement, walk } from "../../python/walk";
import { gpuEvidence } from "../../torch/gpu";
import { headOf } from "../../torch/per-batch";
import type { Resolver } from "../../torch/resolve";
import { push } from "../../torch/resolve-index";
import { excerpt } from "../excerpt";
import { defineRule, type RuleContext } from "../rule";

type MessageId = keyof typeof messages;

const messages = {
  synchronize: {
    en: "`{call}` runs {count} times a batch and no clock is read in between: each time the host waits until the GPU has nothing left to do, and the next kernels are launched into an idle device. Operations of one stream keep their order without it; remove it, or keep it at the places where time is taken.",
    "zh-cn":
      "`{call}` 每个批次执行 {count} 次，其间没有读取时钟：主机每次都要等到 GPU 无事可做，下一批内核只能启动到空闲的设备上。同一个流中的操作无需它也保持顺序；请将其删除，或只留在计时的位置。",
  },
  item: {
    en: "`{call}` waits for the GPU once for each element of `{tensor}`. `{tensor}.tolist()` copies all of them at once and gives the same numbers.",
    "zh-cn":
      "`{call}` 对 `{tensor}` 的每个元素都要等待 GPU 一次。`{tensor}.tolist()` 一次复制全部元素，得到相同的数。",
  },
  loop: { en: "This loop runs once a batch.", "zh-cn": "这个循环每个批次执行一次。" },
  elements: { en: "Its elements are taken one by one here.", "zh-cn": "在这里逐个取出它的元素。" },
};

const synchronizing = /^torch\.(cuda|xpu|npu|accelerator)\.synchronize$/;
const clocks =
  /^(time|timeit|datetime)\.|^torch\.(cuda|accelerator|xpu)\.(\w+\.)*(Event|Stream|stream|current_stream|StreamContext|max_memory_\w+|memory_\w+)$|^torch\.(profiler|autograd\.profiler|utils\.benchmark)\./;
const timerNames = /timer|stopwatch|^tic$|^toc$|elapsed|profil|clock/i;
/** Methods after which the values are on the host. */
const toHost = /^(cpu|tolist|numpy|item|to|get|data_ptr)$/;

export const rule = defineRule<MessageId>({
  name: "synchronize-in-loop",
  group: "allocator",
  level: "information",
  summary: {
    en: "The host waits for the GPU several times in each batch.",
    "zh-cn": "每个批次中主机多次等待 GPU。",
  },
  messages,
  calls: ["synchronize", "item"],
  create: (context) => {
    const byLoop = new Map<For | While, Call[]>();
    return {
      Call(call) {
        const { callee } = call;
        if (callee.kind === "Attribute" && callee.attribute.id === "item")
          checkItem(context, call, callee.object);
        if (callee.kind === "Attribute" && callee.attribute.id !== "synchronize") return;
        if (!synchronizing.test(context.torch.resolve.qualifiedName(callee) ?? "")) return;
        const loop = batchLoopOf(context, call);
        if (loop !== undefined) push(byLoop, loop, call);
      },
      finish() {
        for (const [loop, calls] of byLoop) reportSynchronizations(context, loop, calls);
      },
    };
  },
});

/** The loop over batches that runs the call unconditionally, loops inside it included. */
function batchLoopOf({ torch }: RuleContext, call: Call): For | While | undefined {
  if (enclosingStatement(call)?.kind !== "ExpressionStatement") return undefined;
  for (const around of ancestors(call)) {
    if (/^(If|Try|Match|FunctionDefinition|ClassDefinition|Lambda|Conditional)$/.test(around.kind))
      return undefined;
    if ((around.kind === "For" || around.kind === "While") && torch.trainingLoops.isBatchLoop(around))
      return around;
  }
  return undefined;
}

function reportSynchronizations(
  context: RuleContext<MessageId>,
  loop: For | While,
  calls: readonly Call[],
): void {
  if (calls.length < 2 || takesTime(context.torch.resolve, loop)) return;
  for (const call of calls) {
    context.report({
      at: call,
      message: "synchronize",
      values: { call: `${context.source.slice(call.callee)}()`, count: calls.length },
      related: [{ at: headOf(loop), message: "loop" }],
    });
  }
}

/** Clocks, events, streams, memory figures: synchronizing has a reason. */
function takesTime(resolve: Resolver, loop: For | While): boolean {
  const owner = resolve.enclosingFunction(loop);
  if (owner?.kind === "FunctionDefinition" && /bench|profil|timing|measure/i.test(owner.name.id)) return true;
  let takes = false;
  walk(loop, {
    enter(node) {
      if (node.kind === "Call" && clocks.test(resolve.qualifiedName(node.callee) ?? "")) takes = true;
      if (node.kind === "Name" && timerNames.test(node.id)) takes = true;
      if (node.kind === "Attribute" && timerNames.test(node.attribute.id)) takes = true;
    },
  });
  return takes;
}

/** `p.item()` for `p` in a tensor that a model made and nobody has moved to the host. */
function checkItem(context: RuleContext<MessageId>, call: Call, element: Expression): void {
  const { resolve } = context.torch;
  if (element.kind !== "Name" || call.positional.length > 0) return;
  const found = iterationOf(resolve, element);
  if (found === undefined || !found.iterable || !isRepeated(call, found.node)) return;
  const tensor = found.iterable;
  if ((tensor.kind !== "Name" && tensor.kind !== "Attribute") || gpuEvidence(context.torch) === undefined)
    return;
  if (!comesFromModel(resolve, tensor, 0)) return;
  context.report({
    at: call,
    message: "item",
    values: { call: excerpt(context.source, call), tensor: excerpt(context.source, tensor) },
    related: [{ at: tensor, message: "elements" }],
  });
}

interface Iteration {
  readonly node: Node;
  readonly iterable: Expression | undefined;
}

/** What `for element in …` runs over; of `zip` and `enumerate` the part that the element is of. */
function iterationOf(resolve: Resolver, element: Expression): Iteration | undefined {
  if (element.kind !== "Name") return undefined;
  const around = new Set<Node>(ancestors(element));
  // A name that several loops use means the one that it stands in.
  const binding = resolve.scopes
    .lookup(element)
    .find(({ kind, node }) => kind === "comprehension" || (kind === "for" && around.has(node)));
  if (binding === undefined) return undefined;
  const { value, path, node } = binding;
  const [position, deeper] = path;
  if (position === undefined) return { node, iterable: value };
  if (value?.kind !== "Call" || deeper !== undefined) return undefined;
  const wrapper = resolve.qualifiedName(value.callee);
  if (wrapper === "builtins.enumerate")
    return { node, iterable: position === 1 ? value.positional[0] : undefined };
  return wrapper === "builtins.zip" ? { node, iterable: value.positional[position] } : undefined;
}

function isRepeated(call: Call, node: Node): boolean {
  if (node.kind === "For") return enclosingLoop(call) !== undefined;
  for (const around of ancestors(call)) if (around === node || isComprehension(around)) return true;
  return false;
}

function isComprehension(node: Node): node is Comprehension {
  return node.kind === "Comprehension";
}

/** Every value of the tensor is made from a model's output without a way over the host. */
function comesFromModel(resolve: Resolver, expression: Expression, depth: number): boolean {
  if (depth > 12) return false;
  switch (expression.kind) {
    case "Name": {
      const bindings = resolve.scopes.lookup(expression);
      return (
        bindings.length > 0 &&
        bindings.every(
          ({ kind, value, path }) =>
            kind === "assignment" &&
            value !== undefined &&
            path.length < 2 &&
            comesFromModel(resolve, value, depth + 1),
        )
      );
    }
    case "Attribute":
      return /^(logits|data|values|indices|T|last_hidden_state)$/.test(expression.attribute.id)
        ? comesFromModel(resolve, expression.object, depth + 1)
        : false;
    case "Subscript":
      return comesFromModel(resolve, expression.object, depth + 1);
    case "Comparison":
      return expression.operands.some((operand) => comesFromModel(resolve, operand, depth + 1));
    case "BinaryOperation":
      return (
        comesFromModel(resolve, expression.left, depth + 1) ||
        comesFromModel(resolve, expression.right, depth + 1)
      );
    case "Call":
      return isModelResult(resolve, expression, depth);
    default:
      return false;
  }
}

function isModelResult(resolve: Resolver, call: Call, depth: number): boolean {
  const { callee } = call;
  const name = resolve.qualifiedName(callee);
  const [first] = call.positional;
  if (name !== undefined) {
    return name.startsWith("torch.") && first !== undefined && comesFromModel(resolve, first, depth + 1);
  }
  const object = resolve.objectOf(callee);
  if (object?.role === "model") return object.certainty !== "name";
  if (callee.kind !== "Attribute" || toHost.test(callee.attribute.id)) return false;
  return comesFromModel(resolve, callee.object, depth + 1);
}
