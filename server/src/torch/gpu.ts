/** Whether a script works on a GPU at all: rules about GPU memory have nothing to say about the others. */
import { FileMemo } from "../python/file-memo";
import { keyword } from "../python/keyword";
import type { Call, Expression, Module, Node, StringLiteral } from "../python/tree";
import { nodesOf } from "../python/walk";
import type { TorchFacts } from "./facts";

/**
 * The first place that shows it: `.cuda()`, a device written `"cuda"` (or `xpu`, `mps`, `npu`), `torch.cuda.set_device`, a
 * framework that places models on its own, processes that talk over NCCL. `undefined` for CPU scripts and for files that leave
 * the device to others.
 */
export function gpuEvidence(torch: TorchFacts): Node | undefined {
  return evidence.of(torch.module, () => findEvidence(torch));
}

const evidence = new FileMemo<Node | undefined>();

/** Whether a script says at all where something is to be: on a GPU, or by name on the CPU. */
export function namesDevice(torch: TorchFacts): boolean {
  return gpuEvidence(torch) !== undefined || namingCpu.of(torch.module, () => namesCpu(torch.module));
}

const namingCpu = new FileMemo<boolean>();

function namesCpu(module: Module): boolean {
  for (const node of nodesOf(module)) {
    if (node.kind === "String" && node.value === "cpu" && !isMentioned(node)) return true;
  }
  return false;
}

const placingCalls = /^torch\.(cuda|xpu|npu)\.(set_device|current_device|device|amp\.\w+)$/;
const distributing: ReadonlySet<string> = new Set([
  "torch.distributed.init_process_group",
  "torch.nn.parallel.DistributedDataParallel",
]);
const gpuDevice = /^(cuda|xpu|mps|npu|hpu)(:\d*)?$/;

function findEvidence(torch: TorchFacts): Node | undefined {
  const { resolve, frameworks, module } = torch;
  const moved = resolve.index.callsByName.get("cuda")?.find((call) => isMove(torch, call));
  if (moved !== undefined) return moved;
  const [placed] = resolve.callsOf((name) => placingCalls.test(name));
  if (placed !== undefined) return placed;
  const distributed = resolve.callsOf((name) => distributing.has(name)).find(distributesOverGpus);
  if (distributed !== undefined) return distributed;
  const made = frameworks.made.find(
    ({ framework, call }) => framework.name === "accelerate" || asksForGpu(call),
  );
  return made?.call ?? deviceName(module);
}

/** NCCL is a library of GPUs only; `device_ids` of DistributedDataParallel has to be left out for modules on the CPU. */
function distributesOverGpus(call: Call): boolean {
  const { positional } = call;
  const backend = keyword(call, "backend") ?? positional[0];
  if (backend?.kind === "String" && /(^|:)nccl$/.test(backend.value ?? "")) return true;
  const ids = keyword(call, "device_ids") ?? positional[1];
  return ids?.kind === "List" && ids.elements.length > 0;
}

/** `Trainer(accelerator="gpu")`, `Fabric(accelerator="cuda")`, `Trainer(gpus=2)`: by themselves they take what there is. */
function asksForGpu({ keywords }: Call): boolean {
  return keywords.some(
    ({ name, value }) =>
      name.id === "gpus" ||
      (name.id === "accelerator" && value.kind === "String" && /^(gpu|cuda)$/.test(value.value ?? "")),
  );
}

/** `model.cuda()`, not a function of that name. */
function isMove({ resolve }: TorchFacts, { callee }: Call): boolean {
  return callee.kind === "Attribute" && resolve.qualifiedName(callee) === undefined;
}

/** A device that is written, as in `torch.device("cuda" if … else "cpu")`; one that is only compared with is none. */
function deviceName(module: Module): Expression | undefined {
  for (const node of nodesOf(module)) {
    if (node.kind === "String" && namesGpu(node) && !isMentioned(node)) return node;
  }
  return undefined;
}

function namesGpu({ value, parts: [first] }: StringLiteral): boolean {
  return gpuDevice.test(value ?? (typeof first === "string" ? first : ""));
}

/** In a comparison, or among what an option may be, which is not what it is. */
function isMentioned(node: Node): boolean {
  let below = node;
  for (let at = node.parent; at !== undefined; below = at, at = at.parent) {
    if (at.kind === "Comparison") return true;
    if (at.kind === "Call" && at.keywords.some(({ name, value }) => value === below && name.id === "choices"))
      return true;
  }
  return false;
}
