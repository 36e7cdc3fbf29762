/**
 * Tensors that a dataset or a `collate_fn` puts on the GPU, loaded by worker processes: one that was forked cannot use CUDA
 * ("Cannot re-initialize CUDA in forked subprocess", torch/cuda/__init__.py, `_lazy_init`), one that was spawned opens a context
 * of its own. https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading
 */
import { foldInteger } from "../../python/constant";
import { keyword } from "../../python/keyword";
import type { Call, ClassDefinition, Expression, FunctionDefinition, Lambda, Node } from "../../python/tree";
import { isWithin, someNode } from "../../python/walk";
import { isLoader } from "../../torch/api-kinds";
import type { TorchFacts } from "../../torch/facts";
import type { ImportedClass } from "../../torch/imported";
import { methodOfImported } from "../../torch/resolve-imported";
import { callsWithin } from "../../torch/resolve-index";
import { excerpt } from "../excerpt";
import { defineRule, type RuleContext } from "../rule";

type MessageId = "dataset" | "collate" | "elsewhere" | "loader";

export const rule = defineRule<MessageId>({
  name: "cuda-in-dataset",
  group: "data",
  level: "warning",
  summary: {
    en: "Worker processes of a DataLoader put samples on the GPU.",
    "zh-cn": "DataLoader 的工作进程把样本放到 GPU 上。",
  },
  messages: {
    dataset: {
      en: '`{call}` runs in {workers, plural, one {the worker process} other {each of the {workers} worker processes}} of the DataLoader: forked from a process that uses the GPU (the default on Linux before Python 3.14) it fails ("Cannot re-initialize CUDA in forked subprocess"); spawned, it opens a CUDA context of its own, which takes memory of the GPU. Return the sample on the CPU, and move each batch in the training loop.',
      "zh-cn":
        "`{call}` 在 DataLoader 的 {workers} 个工作进程中运行：从已使用 GPU 的进程以 fork 方式启动时（Python 3.14 之前 Linux 上的默认方式）会失败（“Cannot re-initialize CUDA in forked subprocess”）；以 spawn 方式启动时，每个进程都会打开自己的 CUDA 上下文，占用显存。请在 CPU 上返回样本，在训练循环中移动每个批次。",
    },
    collate: {
      en: '`{call}` runs in {workers, plural, one {the worker process} other {each of the {workers} worker processes}} of the DataLoader, which calls `collate_fn`: forked from a process that uses the GPU (the default on Linux before Python 3.14) it fails ("Cannot re-initialize CUDA in forked subprocess"); spawned, it opens a CUDA context of its own, which takes memory of the GPU. Return the batch on the CPU, and move it in the training loop.',
      "zh-cn":
        "`{call}` 在 DataLoader 的 {workers} 个工作进程中运行（`collate_fn` 由它们调用）：从已使用 GPU 的进程以 fork 方式启动时（Python 3.14 之前 Linux 上的默认方式）会失败（“Cannot re-initialize CUDA in forked subprocess”）；以 spawn 方式启动时，每个进程都会打开自己的 CUDA 上下文，占用显存。请在 CPU 上返回批次，在训练循环中移动它。",
    },
    elsewhere: {
      en: '`{call}` in `{name}` ({file}) runs in {workers, plural, one {the worker process} other {each of the {workers} worker processes}} of this DataLoader: forked from a process that uses the GPU (the default on Linux before Python 3.14) it fails ("Cannot re-initialize CUDA in forked subprocess"); spawned, it opens a CUDA context of its own, which takes memory of the GPU. Return the sample on the CPU, and move each batch in the training loop.',
      "zh-cn":
        "`{name}`（{file}）中的 `{call}` 在这个 DataLoader 的 {workers} 个工作进程中运行：从已使用 GPU 的进程以 fork 方式启动时（Python 3.14 之前 Linux 上的默认方式）会失败（“Cannot re-initialize CUDA in forked subprocess”）；以 spawn 方式启动时，每个进程都会打开自己的 CUDA 上下文，占用显存。请在 CPU 上返回样本，在训练循环中移动每个批次。",
    },
    loader: { en: "The workers are asked for here.", "zh-cn": "工作进程在这里指定。" },
  },
  calls: ["DataLoader"],
  create: (context) => {
    const reported = new Set<Node>();
    return {
      Call(call) {
        if (isLoader(context.torch.resolve.qualifiedName(call.callee) ?? "")) check(context, call, reported);
      },
    };
  },
});

function check(context: RuleContext<MessageId>, loader: Call, reported: Set<Node>): void {
  const { resolve } = context.torch;
  const asked = keyword(loader, "num_workers") ?? loader.positional[5];
  const workers = asked === undefined ? undefined : foldInteger(asked, context.scopes);
  if (workers === undefined || workers < 1) return;
  // Who asks which worker it is in, or puts the loading into one process, knows.
  if (["get_worker_info", "set_sharing_strategy"].some((name) => resolve.index.callsByName.has(name))) return;
  const data = loader.positional[0] ?? keyword(loader, "dataset");
  const owner = data && datasetClass(context, data);
  if (owner !== undefined) {
    for (const name of loadingMethods) {
      const method = resolve.methodOf(owner, name);
      if (method !== undefined) reportIn(context, method, { loader, workers, message: "dataset" }, reported);
    }
  } else if (data !== undefined) checkElsewhere(context, data, { loader, workers, message: "elsewhere" });
  const collate = keyword(loader, "collate_fn");
  const joined = collate && functionGiven(context, collate);
  if (joined !== undefined) reportIn(context, joined, { loader, workers, message: "collate" }, reported);
}

/** What a worker calls of a dataset. */
const loadingMethods = ["__getitem__", "__getitems__", "__iter__"];

interface Work {
  readonly loader: Call;
  readonly workers: number;
  readonly message: "dataset" | "collate" | "elsewhere";
}

/** A dataset of another file; the finding is where this one asks for workers. */
function checkElsewhere(context: RuleContext<MessageId>, data: Expression, work: Work): void {
  const found = importedClass(context, data);
  if (found === undefined) return;
  for (const name of loadingMethods) {
    const method = methodOfImported(found, name);
    const call = method && moveIn(method.file.torch, method.definition, "elsewhere");
    if (method === undefined || call === undefined) continue;
    const { source, key } = method.file;
    context.report({
      at: keyword(work.loader, "num_workers") ?? work.loader,
      message: work.message,
      values: {
        call: excerpt(source, call),
        name: `${found.definition.name.id}.${name}`,
        file: key.split(/[\\/]/).at(-1) ?? key,
        workers: work.workers,
      },
    });
    return;
  }
}

/** The class of this file behind what is loaded. */
function datasetClass({ torch }: RuleContext, data: Expression): ClassDefinition | undefined {
  const { resolve } = torch;
  return (
    resolve.classOf(data) ?? onlyOne(wholesOf(torch, data).map((whole) => whole && resolve.classOf(whole)))
  );
}

/** The class of another file behind what is loaded. */
function importedClass({ torch }: RuleContext, data: Expression): ImportedClass | undefined {
  const { imported } = torch.resolve;
  return (
    imported.classOf(data) ?? onlyOne(wholesOf(torch, data).map((whole) => whole && imported.classOf(whole)))
  );
}

/** What the data that is loaded may be a split or a subset of; undefined for each binding that is neither. */
function wholesOf({ resolve, scopes }: TorchFacts, data: Expression): (Expression | undefined)[] {
  if (data.kind !== "Name") return [];
  return scopes.lookup(data).map(({ value }) => {
    const isPart = value?.kind === "Call" && parts.test(resolve.qualifiedName(value.callee) ?? "");
    return isPart ? value.positional[0] : undefined;
  });
}

function onlyOne<Found>(found: readonly (Found | undefined)[]): Found | undefined {
  const [first] = found;
  return found.every((one) => one === first) ? first : undefined;
}

const parts = /^torch\.utils\.data\.(dataset\.)?(Subset|random_split)$/;

/** `collate_fn=collate`, `collate_fn=lambda batch: …`, `collate_fn=self.collate`, and `partial` of those. */
function functionGiven(
  { torch: { resolve, scopes } }: RuleContext,
  given: Expression,
): FunctionDefinition | Lambda | undefined {
  if (given.kind === "Lambda") return given;
  if (given.kind === "Call" && resolve.qualifiedName(given.callee) === "functools.partial") {
    const [wrapped] = given.positional;
    return wrapped && functionNamed(wrapped);
  }
  return functionNamed(given);

  function functionNamed(expression: Expression): FunctionDefinition | undefined {
    if (expression.kind === "Attribute") {
      const owner = resolve.classOf(expression.object);
      return owner && resolve.methodOf(owner, expression.attribute.id);
    }
    const [binding, other] = expression.kind === "Name" ? scopes.lookup(expression) : [];
    return other === undefined && binding?.node.kind === "FunctionDefinition" ? binding.node : undefined;
  }
}

/** Reports the first move to the GPU in what a worker runs. */
function reportIn(
  context: RuleContext<MessageId>,
  run: FunctionDefinition | Lambda,
  { loader, workers, message }: Work,
  reported: Set<Node>,
): void {
  const { torch, source } = context;
  const call = moveIn(torch, run, "here");
  if (call === undefined || reported.has(call)) return;
  reported.add(call);
  context.report({
    at: call,
    message,
    values: { call: excerpt(source, call), workers },
    related: [{ at: keyword(loader, "num_workers") ?? loader, message: "loader" }],
  });
}

/** What the file at hand makes is made with the arguments that are seen; of another file's nobody knows who makes them. */
type Makers = "here" | "elsewhere";

/** The first move to the GPU in a function, and in those of its file that it calls. */
function moveIn(torch: TorchFacts, run: FunctionDefinition | Lambda, makers: Makers): Call | undefined {
  for (const part of [run, ...torch.provenance.reach.functionsFrom([run])]) {
    for (const call of callsWithin(torch.resolve.index, part))
      if (movesToGpu(torch, call, makers) && !isGuarded(call, part)) return call;
  }
  return undefined;
}

/** `x.cuda()`, `x.to("cuda")`, `torch.tensor(x, device=device)` where all that the device may be is a GPU, or one where there is one. */
function movesToGpu(torch: TorchFacts, call: Call, makers: Makers): boolean {
  const { resolve } = torch;
  const { callee } = call;
  const device = keyword(call, "device");
  const name = resolve.qualifiedName(callee);
  if (name !== undefined)
    return name.startsWith("torch.") && device !== undefined && isGpu(torch, device, makers, 0);
  if (callee.kind !== "Attribute") return false;
  if (callee.attribute.id === "cuda") return resolve.functionOf(call) === undefined;
  const target = device ?? call.positional[0];
  return callee.attribute.id === "to" && target !== undefined && isGpu(torch, target, makers, 0);
}

const longestWay = 5;

function isGpu(torch: TorchFacts, device: Expression, makers: Makers, depth: number): boolean {
  const { resolve } = torch;
  if (depth > longestWay) return false;
  switch (device.kind) {
    case "String":
      return /^(cuda|xpu)(:\d+)?$/.test(device.value ?? "");
    case "Conditional":
      return asksForGpu(torch, device.test) && isGpu(torch, device.body, makers, depth + 1);
    case "Call": {
      const [named] = device.positional;
      return (
        resolve.qualifiedName(device.callee) === "torch.device" &&
        named !== undefined &&
        isGpu(torch, named, makers, depth + 1)
      );
    }
    case "Name":
    case "Attribute": {
      const values = makers === "here" ? resolve.valuesGiven(device) : resolve.valuesOf(device);
      return values.length > 0 && values.every((value) => isGpu(torch, value, makers, depth + 1));
    }
    default:
      return false;
  }
}

/** `torch.cuda.is_available()`. */
function asksForGpu({ resolve }: TorchFacts, test: Expression): boolean {
  return (
    test.kind === "Call" && /^torch\.(cuda|xpu)\.is_available$/.test(resolve.qualifiedName(test.callee) ?? "")
  );
}

/** Below a condition that may ask for anything but whether there is a GPU. */
function isGuarded(call: Call, within: Node): boolean {
  for (let at: Node | undefined = call.parent; at !== undefined && at !== within; at = at.parent) {
    if (at.kind !== "If" && at.kind !== "Conditional") continue;
    const isPlain = someNode(
      at.test,
      (node) => node.kind === "Attribute" && node.attribute.id === "is_available",
    );
    if (!isPlain && !isWithin(call, at.test)) return true;
  }
  return false;
}
