/**
 * `torch.load` without `map_location` in a script that works on a GPU. Tensors go back to the device they were saved
 * from (docs of `torch.load`: "storages are … moved to the device they were saved from"), so a checkpoint of a GPU run
 * lies in GPU memory beside the model it is copied into.
 */
import { lastName } from "../../python/last-name";
import type { Call, Expression, Node } from "../../python/tree";
import { ancestors, enclosingStatement, isWithin, someNode, walk } from "../../python/walk";
import { gpuEvidence } from "../../torch/gpu";
import { followLoaded, type LoadedCheckpoint } from "../../torch/loaded";
import type { Resolver } from "../../torch/resolve";
import { insertBehindArgument, quoted } from "../call-text";
import { isLetGo, trainingBehind } from "../loaded-through-training";
import { leastCheckpointFor, unknownSize } from "../model-size";
import { defineRule, type Report, type RuleContext, type TextEdit } from "../rule";

type MessageId = keyof typeof messages;

const messages = {
  held: {
    en: "`torch.load` puts each tensor back on the device it was saved from: a checkpoint saved on the GPU takes GPU memory of its own{size, select, unknown {} other { ({size})}}, besides the model''s, as long as `{holder}` holds it{distributed, select, yes {, and each process puts it on the GPU of the process that saved it} other {}}. Load it with `map_location={cpu}`; `load_state_dict` copies to the model''s device.",
    "zh-cn":
      "`torch.load` 会把每个张量放回保存时所在的设备：在 GPU 上保存的检查点会在模型之外另占显存{size, select, unknown {} other {（{size}）}}，直到 `{holder}` 不再持有它{distributed, select, yes {；而且每个进程都会把它放到当初保存它的那个进程的 GPU 上} other {}}。请用 `map_location={cpu}` 加载；`load_state_dict` 会复制到模型所在的设备。",
  },
  copied: {
    en: "`torch.load` puts each tensor back on the device it was saved from: a checkpoint saved on the GPU takes GPU memory of its own{size, select, unknown {} other { ({size})}}, besides the model''s, until it is copied{distributed, select, yes {, and each process puts it on the GPU of the process that saved it} other {}}. Load it with `map_location={cpu}`; `load_state_dict` copies to the model''s device.",
    "zh-cn":
      "`torch.load` 会把每个张量放回保存时所在的设备：在 GPU 上保存的检查点会在模型之外另占显存{size, select, unknown {} other {（{size}）}}，直到复制完成{distributed, select, yes {；而且每个进程都会把它放到当初保存它的那个进程的 GPU 上} other {}}。请用 `map_location={cpu}` 加载；`load_state_dict` 会复制到模型所在的设备。",
  },
  takenOver: {
    en: "`torch.load` puts each tensor back on the device it was saved from: each process first puts the optimizer''s states on the GPU of the process that saved them, and only then on its own. Load them with `map_location={cpu}`; `load_state_dict` moves them to the parameters'' device.",
    "zh-cn":
      "`torch.load` 会把每个张量放回保存时所在的设备：每个进程都先把优化器状态放到当初保存它的那个进程的 GPU 上，然后才放到自己的 GPU。请用 `map_location={cpu}` 加载；`load_state_dict` 会移到参数所在的设备。",
  },
  copiedHere: { en: "It is copied here.", "zh-cn": "在这里复制。" },
  onGpu: { en: "This shows that the file works on a GPU.", "zh-cn": "由此可见这个文件使用 GPU。" },
  add: { en: "Add `map_location={cpu}`", "zh-cn": "加上 `map_location={cpu}`" },
};

export const rule = defineRule<MessageId>({
  name: "load-without-map-location",
  group: "loading",
  level: "warning",
  summary: {
    en: "`torch.load` without `map_location` puts the checkpoint on the GPU beside the model.",
    "zh-cn": "`torch.load` 没有 `map_location`，检查点会与模型一起占用显存。",
  },
  messages,
  create: (context) => ({
    finish() {
      const { resolve } = context.torch;
      for (const call of resolve.index.callsByName.get("load") ?? [])
        if (resolve.qualifiedName(call.callee) === "torch.load") check(context, call);
    },
  }),
});

function check(context: RuleContext<MessageId>, call: Call): void {
  const { torch, source } = context;
  if (saysWhere(call) || isChosenByDevice(context, call) || isInTest(call)) return;
  const gpu = gpuEvidence(torch);
  if (gpu === undefined || savesFromCpu(context)) return;
  const loaded = followLoaded(torch.resolve, call);
  const distributed = isDistributed(context, call);
  const [copy] = loaded.copies;
  // One process takes an optimizer's states over where they are.
  const sink = copy ?? (distributed ? loaded.takenOver[0] : undefined);
  if (sink === undefined) return;
  const [holder] = loaded.holders;
  const cpu = quoted(source, "cpu");
  context.report({
    at: call,
    message: copy === undefined ? "takenOver" : holder === undefined ? "copied" : "held",
    values: {
      cpu,
      distributed: distributed ? "yes" : "no",
      size: copy === undefined ? unknownSize : leastCheckpointFor(copy, context),
      ...(holder === undefined ? {} : { holder: source.slice(holder) }),
    },
    level: trains(context) && (distributed || isThereInTraining(context, loaded)) ? "warning" : "information",
    related: [
      ...(isWithin(call, sink) ? [] : [{ at: sink, message: "copiedHere" as const }]),
      { at: gpu, message: "onGpu" },
    ],
    fixes: fixes(context, call, loaded, cpu),
  });
}

/**
 * A variable that training still sees. What is copied at once is gone before the first batch, when a model and its copy
 * take less than the model, its gradients and the optimizer's states will.
 */
function isThereInTraining({ torch }: RuleContext, { holders }: LoadedCheckpoint): boolean {
  return holders.some((holder) => {
    if (holder.kind !== "Name") return true;
    const statement = enclosingStatement(holder);
    return (
      statement !== undefined &&
      trainingBehind(torch, statement) !== undefined &&
      !isLetGo(torch.resolve, holder, statement)
    );
  });
}

/** Tests load what is small, often on a machine without a GPU. */
function isInTest(call: Call): boolean {
  return [...ancestors(call)].some(
    (node) => node.kind === "FunctionDefinition" && /^test_/.test(node.name.id),
  );
}

/** The device is given, cannot be seen, or the file is mapped rather than read. */
function saysWhere(call: Call): boolean {
  const file = fileOf(call);
  return file === undefined || file.kind === "Starred" || call.keywordSpreads.length > 0 || givesPlace(call);
}

function fileOf(call: Call): Expression | undefined {
  return call.positional[0] ?? call.keywords.find(({ name }) => name.id === "f")?.value;
}

function givesPlace(call: Call): boolean {
  return (
    call.positional.length > 1 ||
    call.keywords.some(({ name }) => name.id === "map_location" || name.id === "mmap")
  );
}

/** `if cuda: torch.load(p) else: torch.load(p, map_location="cpu")`: somebody has thought about it. */
function isChosenByDevice({ torch: { resolve } }: RuleContext, call: Call): boolean {
  for (const node of ancestors(call)) {
    if (node.kind === "FunctionDefinition" || node.kind === "ClassDefinition") return false;
    const chooses =
      (node.kind === "If" && node.orelse.length > 0) || node.kind === "Conditional" || node.kind === "Try";
    if (chooses && holdsPlacedLoad(resolve, node)) return true;
  }
  return false;
}

function holdsPlacedLoad(resolve: Resolver, node: Node): boolean {
  let found = false;
  walk(node, {
    enter(at) {
      if (at.kind === "Call" && givesPlace(at) && resolve.qualifiedName(at.callee) === "torch.load")
        found = true;
      return !found;
    },
  });
  return found;
}

/** `torch.save({k: v.cpu() …})`: then there is nothing to put on a GPU. */
function savesFromCpu({ torch: { resolve } }: RuleContext): boolean {
  return (resolve.index.callsByName.get("save") ?? []).some((call) => {
    if (resolve.qualifiedName(call.callee) !== "torch.save") return false;
    return call.positional.slice(0, 1).some((what) => isMovedToCpu(resolve, what));
  });
}

function isMovedToCpu(resolve: Resolver, what: Expression): boolean {
  let moved = false;
  const sources = [what, ...resolve.valuesOf(what)];
  for (const source of sources) {
    walk(source, {
      enter(node) {
        if (node.kind === "Call" && node.callee.kind === "Attribute") {
          const [device] = node.positional;
          const method = node.callee.attribute.id;
          if (method === "cpu" || (method === "to" && device?.kind === "String" && device.value === "cpu"))
            moved = true;
        }
        return !moved;
      },
    });
  }
  return moved;
}

/** Several processes load: what starts them stands before the loading, where both are in one function or notebook. */
function isDistributed({ torch: { resolve, frameworks } }: RuleContext, load: Call): boolean {
  const made = frameworks.made.filter(
    ({ framework: { name } }) => name === "accelerate" || name === "fabric",
  );
  const starts = [
    ...made.map(({ call }) => call),
    ...(resolve.index.callsByName.get("init_process_group") ?? []).filter((call) => !startsOne(call)),
  ];
  if (isForOneProcess(resolve, load)) return false;
  const owner = resolve.enclosingFunction(load);
  return starts.some((start) => start.start < load.start || resolve.enclosingFunction(start) !== owner);
}

/** `if rank == 0:`, `if is_main_process():`, `if is_master:` of `is_master = local_rank == 0`. */
function isForOneProcess(resolve: Resolver, load: Call): boolean {
  const asksWhich = (node: Node): boolean =>
    (node.kind === "Name" || node.kind === "Attribute") && whichProcess.test(lastName(node) ?? "");
  return [...ancestors(load)].some((at) => {
    if (at.kind !== "If" && at.kind !== "Conditional") return false;
    return someNode(
      at.test,
      (node) =>
        asksWhich(node) ||
        (node.kind === "Name" && resolve.valuesOf(node).some((value) => someNode(value, asksWhich))),
    );
  });
}

const whichProcess = /(^|_)rank$|main_process|is_(main|master|primary)|(main|master)_proc/i;

/** `init_process_group("nccl", world_size=1, rank=0)`. */
function startsOne({ keywords }: Call): boolean {
  return keywords.some(({ name, value }) => {
    return name.id === "world_size" && value.kind === "Integer" && value.value === 1;
  });
}

function trains({ torch }: RuleContext): boolean {
  if (torch.trainingLoops.loops.length > 0) return true;
  return torch.resolve.index.calls.some((call) => {
    if (call.callee.kind !== "Attribute" && call.callee.kind !== "Name") return false;
    const object = torch.resolve.objectOf(call);
    return object?.role === "optimizer" && object.certainty === "resolved";
  });
}

function fixes(
  { source }: RuleContext<MessageId>,
  call: Call,
  loaded: LoadedCheckpoint,
  cpu: string,
): Report<MessageId>["fixes"] {
  const file = fileOf(call);
  const edit: TextEdit | undefined = file && insertBehindArgument(source, call, file, `map_location=${cpu}`);
  if (edit === undefined) return [];
  return [{ title: "add", values: { cpu }, safety: loaded.onlyCopied ? "safe" : "review", edits: [edit] }];
}
