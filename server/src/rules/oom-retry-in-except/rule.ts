/**
 * A second attempt inside the `except` that caught an out-of-memory error: the exception keeps the failed frames alive.
 * https://docs.pytorch.org/docs/stable/notes/faq.html#my-out-of-memory-exception-handler-can-t-allocate-memory
 */
import type {
  Call,
  ExceptHandler,
  Expression,
  FunctionDefinition,
  Node,
  Statement,
  Try,
} from "../../python/tree";
import { walk } from "../../python/walk";
import type { Resolver } from "../../torch/resolve";
import { defineRule, oneLower, type RuleContext } from "../rule";

type MessageId = keyof typeof messages;

const messages = {
  retry: {
    en: "`{call}` is tried again inside the `except`: until that block ends, the exception keeps the frames of the failed attempt and all tensors of their local variables, so the second attempt has to fit beside the first. Only set a flag here, and try again after the `except`.",
    "zh-cn":
      "在 `except` 内再次尝试 `{call}`：在该代码块结束之前，异常一直保留失败那次的栈帧及其局部变量中的所有张量，第二次尝试时，第一次占用的显存还没有释放。请在这里只设置标志，在 `except` 之后再重试。",
  },
  named: {
    en: "If `{call}` runs on the GPU, it is tried again inside the `except`: until that block ends, the exception keeps the frames of the failed attempt and all tensors of their local variables, so the second attempt has to fit beside the first. Only set a flag here, and try again after the `except`.",
    "zh-cn":
      "如果 `{call}` 在 GPU 上运行，那么它在 `except` 内被再次尝试：在该代码块结束之前，异常一直保留失败那次的栈帧及其局部变量中的所有张量，第二次尝试时，第一次占用的显存还没有释放。请在这里只设置标志，在 `except` 之后再重试。",
  },
  first: { en: "This attempt failed.", "zh-cn": "这是失败的那次尝试。" },
  handler: { en: "The exception lives until this block ends.", "zh-cn": "异常一直存活到这个代码块结束。" },
};

const outOfMemoryTypes = /^torch(\.(cuda|xpu|npu|mps|mlu))?\.(OutOfMemoryError|_OutOfMemoryError)$/;
const generalTypes = /^builtins\.(RuntimeError|Exception|BaseException)$/;
const emptiesCache = /^torch\.(cuda|xpu|npu|mps|mlu)(\.memory)?\.empty_cache$/;
const oomQuestion = /(^|_)oom(_|$)|out_?of_?memory|should_reduce_batch_size/i;
/** Methods of unknown objects that run a step, by their names. */
const runsByName = /train|step|forward|generate|predict|infer|(^|_)run(_|$)|process_batch|compute_loss/i;
const reportsByName = /log|print|write|report|record|save|zero_grad|scheduler|status/i;

export const rule = defineRule<MessageId>({
  name: "oom-retry-in-except",
  group: "allocator",
  level: "warning",
  summary: {
    en: "A retry inside `except` runs while the failed attempt's tensors are still alive.",
    "zh-cn": "在 `except` 内重试时，失败那次的张量仍然存活。",
  },
  messages,
  create: (context) => ({
    Try(node) {
      for (const handler of node.handlers) {
        if (catchesOutOfMemory(context, handler) && !clearsFrames(handler)) check(context, node, handler);
      }
    },
  }),
});

function catchesOutOfMemory({ torch }: RuleContext, handler: ExceptHandler): boolean {
  const types = handler.type?.kind === "Tuple" ? handler.type.elements : [handler.type];
  let general = false;
  for (const type of types) {
    const name = type === undefined ? undefined : torch.resolve.qualifiedName(type);
    if (name !== undefined && outOfMemoryTypes.test(name)) return true;
    general ||= type === undefined || (name !== undefined && generalTypes.test(name));
  }
  return general && expectsOutOfMemory(torch.resolve, handler);
}

/** `if "out of memory" in str(e):`, `if is_oom_error(e):`, or `torch.cuda.empty_cache()`, which helps against nothing else. */
function expectsOutOfMemory(resolve: Resolver, handler: ExceptHandler): boolean {
  let expects = false;
  visit(handler.body, (node) => {
    if (node.kind === "String" && /out of memory/i.test(node.value ?? "")) {
      expects ||= node.parent?.kind === "Comparison";
    } else if (node.kind === "Call") {
      expects ||=
        oomQuestion.test(nameOf(node.callee)) || emptiesCache.test(resolve.qualifiedName(node.callee) ?? "");
    }
  });
  return expects;
}

/** `traceback.clear_frames(e.__traceback__)`, `e.__traceback__ = None`: nothing is held any more. */
function clearsFrames(handler: ExceptHandler): boolean {
  let clears = false;
  visit(handler.body, (node) => {
    if (node.kind === "Call" && /^(clear_frames|with_traceback)$/.test(nameOf(node.callee))) clears = true;
    if (node.kind === "Assign") clears ||= node.targets.some((target) => nameOf(target) === "__traceback__");
  });
  return clears;
}

function check(context: RuleContext<MessageId>, node: Try, handler: ExceptHandler): void {
  const { source, torch } = context;
  const attempts = new Map<string, Call>();
  for (const call of callsIn(node.body)) {
    const text = source.slice(call.callee);
    if (!attempts.has(text)) attempts.set(text, call);
  }
  const around = torch.resolve.enclosingFunction(node);
  for (const call of callsIn(handler.body)) {
    const first = attempts.get(source.slice(call.callee)) ?? selfCall(torch.resolve, call, around, node);
    if (first === undefined || onCpu(call)) continue;
    const evidence = runsOnGpu(torch.resolve, call);
    if (evidence === undefined) continue;
    context.report({
      at: call,
      message: evidence === "known" ? "retry" : "named",
      values: { call: `${source.slice(call.callee)}()` },
      level: evidence === "known" ? "warning" : oneLower("warning"),
      related: [
        { at: first, message: "first" },
        {
          at: { start: handler.start, end: handler.type?.end ?? handler.start + "except".length },
          message: "handler",
        },
      ],
    });
    return;
  }
}

/** The function calls itself from its handler: what failed is the whole body of the `try`. */
function selfCall(
  resolve: Resolver,
  call: Call,
  around: ReturnType<Resolver["enclosingFunction"]>,
  node: Try,
): Node | undefined {
  if (around?.kind !== "FunctionDefinition" || resolve.functionOf(call) !== around) return undefined;
  return node.body[0];
}

/** A retry on the processor needs no GPU memory. */
function onCpu(call: Call): boolean {
  let cpu = false;
  walk(call, {
    enter(node) {
      if (node.kind === "String" && node.value === "cpu") cpu = true;
      if (node.kind === "Attribute" && node.attribute.id === "cpu") cpu = true;
    },
  });
  return cpu;
}

/** `known` with a model, a backward or a function of this file that has one; `named` for unknown code by its name. */
function runsOnGpu(resolve: Resolver, call: Call): "known" | "named" | undefined {
  if (runsModel(resolve, call)) return "known";
  const target = resolve.functionOf(call);
  if (target !== undefined) return reachesModel(resolve, target) ? "known" : undefined;
  const name = nameOf(call.callee);
  if (!runsByName.test(name) || reportsByName.test(name)) return undefined;
  const qualified = resolve.qualifiedName(call.callee);
  if (
    qualified !== undefined &&
    /^(torch|builtins|logging|os|sys|time|gc|numpy|subprocess)\./.test(qualified)
  )
    return undefined;
  const receiver = call.callee.kind === "Attribute" ? resolve.roleOf(call.callee.object) : undefined;
  return receiver === "optimizer" || receiver === "scheduler" || receiver === "logger" ? undefined : "named";
}

function runsModel(resolve: Resolver, { callee }: Call): boolean {
  if (callee.kind === "Attribute" && callee.attribute.id === "backward") return true;
  const receiver =
    callee.kind === "Attribute" && /^(forward|generate|__call__)$/.test(callee.attribute.id)
      ? callee.object
      : callee;
  const object = resolve.objectOf(receiver);
  if (object?.role !== "model" && object?.role !== "engine") return false;
  // `Net()` constructs.
  return object.certainty !== "name" && resolve.qualifiedName(receiver) === undefined;
}

/** A function of this file that runs a model, itself or through others. */
function reachesModel(resolve: Resolver, start: FunctionDefinition): boolean {
  const seen = new Set<FunctionDefinition>([start]);
  for (const target of seen) {
    for (const call of callsIn(target.body)) {
      if (runsModel(resolve, call)) return true;
      const next = resolve.functionOf(call);
      if (next !== undefined && seen.size < 30) seen.add(next);
    }
  }
  return false;
}

/** The calls that statements run themselves; functions defined among them do not run. */
function callsIn(statements: readonly Statement[]): Call[] {
  const calls: Call[] = [];
  visit(statements, (node) => {
    if (node.kind === "Call") calls.push(node);
  });
  return calls;
}

function visit(statements: readonly Statement[], callback: (node: Node) => void): void {
  for (const statement of statements) {
    walk(statement, {
      enter(node) {
        if (node.kind === "FunctionDefinition" || node.kind === "Lambda" || node.kind === "ClassDefinition")
          return false;
        callback(node);
        return undefined;
      },
    });
  }
}

function nameOf(expression: Expression): string {
  if (expression.kind === "Name") return expression.id;
  return expression.kind === "Attribute" ? expression.attribute.id : "";
}
