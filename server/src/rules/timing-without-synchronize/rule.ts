/** Host clocks around work on the GPU that nothing waits for: the launches are timed, not the work. */
import type {
  Call,
  Expression,
  FunctionDefinition,
  Lambda,
  Module,
  Node,
  Statement,
} from "../../python/tree";
import { ancestors, walk } from "../../python/walk";
import { gpuEvidence } from "../../torch/gpu";
import type { Resolver } from "../../torch/resolve";
import { insertLineBefore } from "../fix";
import { defineRule, type Report, type RuleContext } from "../rule";

type MessageId = keyof typeof messages;

const messages = {
  notSynchronized: {
    en: "This reads the clock while the GPU may still be working: kernels run asynchronously, and nothing since `{start}` was read waits for them, so the time is that of launching them. Call `torch.cuda.synchronize()` before both readings, or use `torch.cuda.Event`.",
    "zh-cn":
      "读取时钟时 GPU 可能仍在工作：内核是异步执行的，从读取 `{start}` 以来没有任何操作等待它们，所以得到的是启动内核的时间。请在两次读取之前都调用 `torch.cuda.synchronize()`，或使用 `torch.cuda.Event`。",
  },
  start: { en: "The clock is started here.", "zh-cn": "在这里开始计时。" },
  work: {
    en: "This is queued on the GPU and returns at once.",
    "zh-cn": "这里把工作排入 GPU 队列后立即返回。",
  },
  insert: { en: "Synchronize before both readings", "zh-cn": "在两次读取之前都同步" },
};

const clocks = /^(time\.(time|perf_counter|monotonic)(_ns)?|timeit\.default_timer)$/;
/** Whoever knows of these knows of the matter. */
const knowsBetter =
  /^torch\.(cuda|accelerator|xpu|npu|mps)\.(\w+\.)*(synchronize|Event|current_stream|Stream)$|^torch\.(profiler|utils\.benchmark|autograd\.profiler)\.|^triton\.|^torch_xla\./;
/** Functions of PyTorch whose result has to come to the host first. */
const waits =
  /^torch\.(nonzero|unique\w*|masked_select|equal|allclose|bincount|save|isclose|combinations)$|^torch\.distributed\./;
const harmlessBuiltins = /^builtins\.(range|len|enumerate|zip|iter|next|tuple|dict|list|isinstance)$/;
/** Methods of tensors and modules that queue their work and return. */
const asynchronousMethods =
  /^(to|cuda|half|float|double|bfloat16|view|reshape|permute|transpose|contiguous|detach|clone|mean|sum|squeeze|unsqueeze|argmax|softmax|log_softmax|sigmoid|size|max|min|pow|abs|expand|repeat|flatten|train|eval|backward|zero_grad|requires_grad_|parameters|append)$/;

export const rule = defineRule<MessageId>({
  name: "timing-without-synchronize",
  group: "allocator",
  level: "information",
  summary: {
    en: "A host clock measures GPU work without waiting for it.",
    "zh-cn": "用主机时钟测量 GPU 工作，却没有等待其完成。",
  },
  messages,
  calls: ["time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns", "default_timer"],
  create: (context) => ({
    Call(call) {
      const { parent } = call;
      if (parent?.kind !== "Assign" || parent.value !== call) return;
      const start = clockStart(context.torch.resolve, parent);
      if (start !== undefined) check(context, parent, start);
    },
  }),
});

/** `t0` in `t0 = time.perf_counter()`. */
function clockStart(resolve: Resolver, statement: Statement): Expression | undefined {
  if (statement.kind !== "Assign" || !isClock(resolve, statement.value)) return undefined;
  const [target, other] = statement.targets;
  return target?.kind === "Name" && other === undefined ? target : undefined;
}

function isClock(resolve: Resolver, expression: Expression): boolean {
  return expression.kind === "Call" && clocks.test(resolve.qualifiedName(expression.callee) ?? "");
}

function check(context: RuleContext<MessageId>, start: Statement, variable: Expression): void {
  const { resolve } = context.torch;
  if (variable.kind !== "Name" || gpuEvidence(context.torch) === undefined) return;
  const list = listOf(start);
  if (list === undefined) return;
  const first = list.indexOf(start);
  const end = endReading(resolve, list, first, variable.id);
  if (end === undefined) return;
  const region = list.slice(first + 1, end.index);
  const work = queuedWork(context, region);
  if (work === undefined || readsValues(resolve, list[end.index], end.clock) || isMinded(resolve, start))
    return;
  context.report({
    at: end.clock,
    message: "notSynchronized",
    values: { start: variable.id },
    related: [
      { at: start, message: "start" },
      { at: work, message: "work" },
    ],
    fixes: fixes(context, start, list[end.index]),
  });
}

function listOf(statement: Statement): readonly Statement[] | undefined {
  const { parent } = statement;
  if (parent === undefined || !("body" in parent) || !Array.isArray(parent.body)) return undefined;
  const body = parent.body as readonly Statement[];
  return body.includes(statement) ? body : undefined;
}

interface Reading {
  readonly index: number;
  readonly clock: Node;
}

/** The first statement behind `start` that reads the clock again, when the difference to it is taken there or later. */
function endReading(
  resolve: Resolver,
  list: readonly Statement[],
  first: number,
  variable: string,
): Reading | undefined {
  for (let index = first + 1; index < list.length; index++) {
    const statement = list[index];
    if (statement === undefined) return undefined;
    const clock = clockIn(resolve, statement);
    if (clock === undefined) {
      if (binds(statement, variable)) return undefined;
      continue;
    }
    if (isSubtracted(clock, variable)) return { index, clock };
    const [target] = statement.kind === "Assign" && statement.value === clock ? statement.targets : [];
    if (target?.kind !== "Name" || target.id === variable) return undefined;
    return list.slice(index + 1).some((later) => subtracts(later, target.id, variable))
      ? { index, clock }
      : undefined;
  }
  return undefined;
}

/** The first clock call of a plain statement; those inside loops and branches belong to them. */
function clockIn(resolve: Resolver, statement: Statement): Expression | undefined {
  let found: Expression | undefined;
  walk(statement, {
    enter(node) {
      if (found !== undefined || node.kind === "FunctionDefinition" || node.kind === "Lambda") return false;
      if (node.kind === "Call" && isClock(resolve, node)) found = node;
      return undefined;
    },
  });
  return found;
}

function isSubtracted({ parent }: Node, variable: string): boolean {
  return parent?.kind === "BinaryOperation" && parent.operator === "-" && isName(parent.right, variable);
}

function subtracts(statement: Statement, end: string, start: string): boolean {
  let found = false;
  walk(statement, {
    enter(node) {
      if (node.kind === "BinaryOperation" && node.operator === "-") {
        found ||= isName(node.left, end) && isName(node.right, start);
      }
    },
  });
  return found;
}

function binds(statement: Statement, variable: string): boolean {
  return statement.kind === "Assign" && statement.targets.some((target) => isName(target, variable));
}

function isName(expression: Expression, id: string): boolean {
  return expression.kind === "Name" && expression.id === id;
}

/** The first model call or backward between the readings; `undefined` when anything there may wait for the GPU. */
function queuedWork({ torch }: RuleContext, region: readonly Statement[]): Call | undefined {
  const seen: { work: Call | undefined; mayWait: boolean } = { work: undefined, mayWait: false };
  for (const statement of region) {
    walk(statement, {
      enter(node) {
        if (seen.mayWait) return false;
        if ((node.kind === "For" || node.kind === "While") && torch.trainingLoops.isBatchLoop(node))
          seen.mayWait = true;
        if (/^(If|Try|FunctionDefinition|ClassDefinition|Match|Yield|Await|Assert)$/.test(node.kind))
          seen.mayWait = true;
        if (node.kind !== "Call") return undefined;
        const effect = effectOf(torch.resolve, node);
        if (effect === "waits") seen.mayWait = true;
        if (effect === "work") seen.work ??= node;
        return undefined;
      },
    });
  }
  return seen.mayWait ? undefined : seen.work;
}

function effectOf(resolve: Resolver, call: Call): "work" | "queued" | "waits" {
  const { callee } = call;
  const name = resolve.qualifiedName(callee);
  if (name !== undefined) {
    if (knowsBetter.test(name) || waits.test(name)) return "waits";
    return name.startsWith("torch.") || harmlessBuiltins.test(name) ? "queued" : "waits";
  }
  const object = resolve.objectOf(callee);
  if (object?.role === "model") {
    const isKnown = object.certainty !== "name" && !/detection/i.test(object.className ?? "");
    return isKnown ? "work" : "waits";
  }
  if (object?.role === "loss-module") return "queued";
  if (callee.kind !== "Attribute") return "waits";
  const method = callee.attribute.id;
  if (method === "backward") return resolve.roleOf(callee.object) === undefined ? "work" : "waits";
  if (method === "step") return resolve.roleOf(callee.object) === "optimizer" ? "queued" : "waits";
  if (method === "to" && call.positional.some((device) => device.kind === "String" && device.value === "cpu"))
    return "waits";
  return asynchronousMethods.test(method) ? "queued" : "waits";
}

/** The statement of the second reading prints or converts a value before it reads the clock. */
function readsValues(resolve: Resolver, statement: Statement | undefined, clock: Node): boolean {
  let reads = false;
  if (statement === undefined) return true;
  walk(statement, {
    enter(node) {
      if (node.kind !== "Call" || node.start >= clock.start) return;
      if (node.callee.kind === "Attribute" && /^(item|cpu|numpy|tolist)$/.test(node.callee.attribute.id))
        reads = true;
      if (resolve.roleOf(node.callee) === "model") reads = true;
    },
  });
  return reads;
}

/** Something in the same function, or the file's own timer, shows that the author minds the queue. */
function isMinded(resolve: Resolver, start: Statement): boolean {
  const owner = ownerOf(start);
  return resolve
    .callsOf((name) => knowsBetter.test(name))
    .some((call) => owner.kind === "Module" || ownerOf(call) === owner);
}

function ownerOf(node: Node): FunctionDefinition | Lambda | Module {
  for (const around of ancestors(node)) {
    if (around.kind === "FunctionDefinition" || around.kind === "Lambda" || around.kind === "Module")
      return around;
  }
  return node as Module;
}

function fixes(
  { source, scopes }: RuleContext,
  start: Statement,
  end: Statement | undefined,
): Report<MessageId>["fixes"] {
  let torch: string | undefined;
  for (const [local, bindings] of scopes.module.bindings) {
    if (bindings.length > 0 && bindings.every(({ importPath }) => importPath === "torch")) torch ??= local;
  }
  if (torch === undefined || end === undefined) return [];
  const text = `${torch}.cuda.synchronize()`;
  const edits = [insertLineBefore(source, start, text), insertLineBefore(source, end, text)];
  const [first, second] = edits;
  return first && second ? [{ title: "insert", safety: "review", edits: [first, second] }] : [];
}
