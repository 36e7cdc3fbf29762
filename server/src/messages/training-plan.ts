/** Texts of the training plan's memory section. */
import type { MessageText } from "./message";

export const planTitles = {
  plan: { en: "GPU memory", "zh-cn": "显存" },
  task: { en: "Task and data", "zh-cn": "任务与数据" },
  model: { en: "Model and optimizer", "zh-cn": "模型与优化器" },
  device: { en: "Device and budget", "zh-cn": "设备与显存预算" },
  batch: { en: "Batch", "zh-cn": "批大小" },
  estimate: { en: "Estimate", "zh-cn": "估算" },
  measured: { en: "Measured points", "zh-cn": "实测点" },
  open: { en: "Still to be measured", "zh-cn": "尚待测量" },
  experiments: { en: "Order of experiments", "zh-cn": "实验顺序" },
  acceptance: { en: "Acceptance", "zh-cn": "验收标准" },
  fallback: { en: "Fall-back", "zh-cn": "回退规则" },
} satisfies Record<string, MessageText>;

/** What stands where nobody knows. */
export const planMarks = {
  fill: { en: "**to be filled**", "zh-cn": "**待填写**" },
  measure: { en: "**to be measured**", "zh-cn": "**待测量**" },
} satisfies Record<string, MessageText>;

export const planIntro = {
  from: {
    en: "From `{file}`. {fill} and {measure} mark what neither the script nor its `# vram:` header says. Estimates are computed from the source without running it; sizes are bytes that PyTorch allocates on one device unless said otherwise, GiB = 2^30 bytes.",
    "zh-cn":
      "依据 `{file}`。{fill} 与 {measure} 标出脚本和 `# vram:` 注释都没有说明的内容。估算只读源代码得出，不运行脚本；除非另有说明，大小均指单个设备上 PyTorch 已分配的字节，GiB = 2^30 字节。",
  },
} satisfies Record<string, MessageText>;

export const planColumns = {
  entry: { en: "Entry", "zh-cn": "条目" },
  value: { en: "Value", "zh-cn": "值" },
  source: { en: "Where from", "zh-cn": "来源" },
  part: { en: "Part", "zh-cn": "组成" },
  memory: { en: "Memory", "zh-cn": "显存" },
  batch: { en: "Micro-batch", "zh-cn": "微批次" },
  measuredPeak: { en: "Measured peak (allocated)", "zh-cn": "实测峰值（已分配）" },
  offLine: { en: "Off the line by", "zh-cn": "偏离直线" },
  number: { en: "No.", "zh-cn": "序号" },
  change: { en: "The one change", "zh-cn": "唯一的改动" },
  header: { en: "`# vram:` entries", "zh-cn": "`# vram:` 条目" },
  estimated: { en: "Estimated peak", "zh-cn": "估算峰值" },
  within: { en: "Within the limit", "zh-cn": "是否在限制之内" },
  watch: { en: "Watch", "zh-cn": "注意" },
  outcome: {
    en: "Peak allocated / reserved / time a step / quality",
    "zh-cn": "已分配峰值 / 已保留峰值 / 每步时间 / 质量",
  },
} satisfies Record<string, MessageText>;

export const planEntries = {
  task: { en: "Task", "zh-cn": "任务" },
  trainingData: { en: "Training data", "zh-cn": "训练数据" },
  otherData: { en: "Other data", "zh-cn": "其他数据" },
  split: { en: "Split", "zh-cn": "划分" },
  seed: { en: "Seed", "zh-cn": "随机种子" },
  seedUnknown: { en: "set, value not constant", "zh-cn": "已设置，值不是常量" },
  model: { en: "Model", "zh-cn": "模型" },
  parameters: { en: "Parameters", "zh-cn": "参数" },
  input: { en: "Input", "zh-cn": "输入" },
  target: { en: "Target", "zh-cn": "目标" },
  loss: { en: "Loss", "zh-cn": "损失" },
  optimizer: { en: "Optimizer", "zh-cn": "优化器" },
  precision: { en: "Precision", "zh-cn": "精度" },
  attention: { en: "Attention", "zh-cn": "注意力" },
  checkpoint: { en: "Checkpointing", "zh-cn": "激活检查点" },
  shard: { en: "Sharding", "zh-cn": "分片" },
  offload: { en: "Offload", "zh-cn": "卸载" },
  device: { en: "Device", "zh-cn": "设备" },
  deviceCard: { en: "`{card}`, {size} usable", "zh-cn": "`{card}`，可用 {size}" },
  budget: { en: "Budget", "zh-cn": "显存预算" },
  reason: { en: "Reason for the budget", "zh-cn": "预算的理由" },
  headroom: {
    en: "leaves {headroom} ({percent, number} %) of the device for what PyTorch's allocated bytes do not count: CUDA context ({contextLeast} to {contextMost} on a T4), allocator slack ({least, number} to {most, number} % of the peak there), other programs. Why just as much: {fill}",
    "zh-cn":
      "为 PyTorch 已分配字节之外的部分留出设备的 {headroom}（{percent, number} %）：CUDA 上下文（T4 上 {contextLeast} 至 {contextMost}）、分配器余量（T4 上为峰值的 {least, number} 至 {most, number} %）、其他程序。为何恰好这么多：{fill}",
  },
  noHeadroom: {
    en: "the budget is not below the device's {size}: nothing is left for the CUDA context and the allocator",
    "zh-cn": "预算不低于设备的 {size}：没有为 CUDA 上下文和分配器留出空间",
  },
  micro: { en: "Micro-batch", "zh-cn": "微批次" },
  accumulate: { en: "Accumulation steps", "zh-cn": "累积次数" },
  devices: { en: "Devices", "zh-cn": "设备数" },
  effective: { en: "Effective batch", "zh-cn": "有效批大小" },
  product: {
    en: "{batch, number} × {accumulate, number} × {devices, number} = {effective, number}",
    "zh-cn": "{batch, number} × {accumulate, number} × {devices, number} = {effective, number}",
  },
} satisfies Record<string, MessageText>;

export const planOrigins = {
  option: { en: "option", "zh-cn": "选项" },
  header: { en: "header", "zh-cn": "注释" },
  script: { en: "script", "zh-cn": "脚本" },
  default: { en: "settings or default", "zh-cn": "设置或默认值" },
  assumed: { en: "assumed", "zh-cn": "假定" },
  docstring: { en: "docstring", "zh-cn": "文档字符串" },
  computed: { en: "computed", "zh-cn": "计算得出" },
  atLine: { en: "{origin}, line {line}", "zh-cn": "{origin}，第 {line} 行" },
  inCell: {
    en: "{origin}, code cell {cell, number}, line {line}",
    "zh-cn": "{origin}，第 {cell, number} 个代码单元格第 {line} 行",
  },
  inLibrary: { en: "{origin}, another file", "zh-cn": "{origin}，其他文件" },
} satisfies Record<string, MessageText>;

export const planEstimate = {
  /** In words: VS Code marks a dash in a document as a character that may be mistaken for another. */
  onDevice: { en: "{least} to {most}", "zh-cn": "{least} 至 {most}" },
  none: {
    en: "No model could be estimated: the peak is {measure}.",
    "zh-cn": "没有可以估算的模型：峰值{measure}。",
  },
  lowerBound: {
    en: "A lower bound: what follows was not understood and is not counted.",
    "zh-cn": "只是下界：以下内容无法理解，未计入。",
  },
  notBuilt: { en: "Not estimated, because:", "zh-cn": "未能估算，原因：" },
  reason: { en: "{where}: {reason}", "zh-cn": "{where}：{reason}" },
  atPlace: { en: "{size}, in {phase}; {where}", "zh-cn": "{size}，出现在{phase}；{where}" },
  fits: {
    en: "By the estimate the step is within the limit of {limit}: {percent, number} % used.",
    "zh-cn": "按估算，训练步在限制 {limit} 之内：占用 {percent, number} %。",
  },
  over: {
    en: "By the estimate the step is over the limit of {limit} by {over}.",
    "zh-cn": "按估算，训练步超出限制 {limit}，多 {over}。",
  },
  overAtLeast: {
    en: "By the estimate the step is over the limit of {limit} by {over} or more.",
    "zh-cn": "按估算，训练步至少超出限制 {limit} {over}。",
  },
  noVerdict: {
    en: "No verdict against the limit of {limit}: the estimate is a lower bound.",
    "zh-cn": "无法对照限制 {limit} 判断：估算只是下界。",
  },
  noLimit: {
    en: "No verdict: neither device nor budget is given.",
    "zh-cn": "无法判断：没有给出设备或显存预算。",
  },
  largest: {
    en: "Largest micro-batch under the limit by the estimate: {batch, number}.",
    "zh-cn": "按估算，限制之内最大的微批次：{batch, number}。",
  },
} satisfies Record<string, MessageText>;

export const planMeasured = {
  none: {
    en: "None yet. Enter them in the header, e.g. `# vram: measured={example}`, at {points} different micro-batches or more.",
    "zh-cn": "还没有。请写入注释，例如 `# vram: measured={example}`，至少 {points} 个不同的微批次。",
  },
  line: {
    en: "Line through the points: {fixed} + {perSample} a sample. It holds for this shape, precision and optimizer only.",
    "zh-cn": "通过各点的直线：{fixed} + 每个样本 {perSample}。只适用于当前的形状、精度和优化器。",
  },
  noLine: {
    en: "A line needs points at two different micro-batches or more.",
    "zh-cn": "直线需要至少两个不同微批次的点。",
  },
  prediction: {
    en: "By the line at micro-batch {batch, number}: {size}.",
    "zh-cn": "按直线，微批次 {batch, number} 时：{size}。",
  },
  largestByLine: {
    en: "Largest micro-batch under the budget by the line: {batch, number}.",
    "zh-cn": "按直线，显存预算内最大的微批次：{batch, number}。",
  },
  largestMeasured: {
    en: "Largest measured micro-batch under the budget: {batch, number}.",
    "zh-cn": "显存预算内实测过的最大微批次：{batch, number}。",
  },
} satisfies Record<string, MessageText>;

export const planOpen = {
  allocated: {
    en: "Peak allocated, `torch.cuda.max_memory_allocated()`, of the third step or a later one (the first allocates the optimizer state and picks kernels), after `torch.cuda.reset_peak_memory_stats()`: {measure}",
    "zh-cn":
      "已分配峰值 `torch.cuda.max_memory_allocated()`，先调用 `torch.cuda.reset_peak_memory_stats()`，取第三步或之后的一步（第一步会分配优化器状态并选择内核）：{measure}",
  },
  reserved: {
    en: "Peak reserved, `torch.cuda.max_memory_reserved()`, over an epoch or an hour: {measure}",
    "zh-cn": "已保留峰值 `torch.cuda.max_memory_reserved()`，覆盖一个轮次或一小时：{measure}",
  },
  usage: {
    en: "Device usage beside it (`nvidia-smi`), with everything that shares the device: {measure}",
    "zh-cn": "同时的设备占用（`nvidia-smi`），包括共用该设备的一切程序：{measure}",
  },
  extremes: {
    en: "The same for the largest batch that the data can give (longest sequence, largest picture): {measure}",
    "zh-cn": "对数据可能给出的最大批次（最长序列、最大图片）同样测量：{measure}",
  },
  validation: {
    en: "Peak of the validation pass: {measure}",
    "zh-cn": "验证阶段的峰值：{measure}",
  },
  points: {
    en: "Two more micro-batches for the line: {batches}: {measure}",
    "zh-cn": "用于直线的另外两个微批次：{batches}：{measure}",
  },
  time: {
    en: "Time a step and samples a second, after warm-up, with `torch.cuda.synchronize()` around: {measure}",
    "zh-cn": "预热之后每步的时间与每秒样本数，前后调用 `torch.cuda.synchronize()`：{measure}",
  },
  qualityPerClass: {
    en: "Quality on the validation split for each class, at the same number of samples seen: {measure}",
    "zh-cn": "在看过相同数量的样本时，验证集上各类别的质量：{measure}",
  },
  quality: {
    en: "Quality on the validation split, for each class or group where there are any, at the same number of samples seen: {measure}",
    "zh-cn": "在看过相同数量的样本时，验证集上的质量；如有类别或分组则分别测量：{measure}",
  },
  seeds: {
    en: "Spread of quality over three seeds of the baseline: {measure}",
    "zh-cn": "基线在三个随机种子下质量的波动：{measure}",
  },
} satisfies Record<string, MessageText>;

export const planExperiments = {
  rule: {
    en: "One change a run, each against the baseline; data, split and seed stay the same.",
    "zh-cn": "每次运行只改一处，均与基线比较；数据、划分和随机种子保持不变。",
  },
  baseline: { en: "baseline, as written", "zh-cn": "基线，不改动" },
  baselineOver: {
    en: "The baseline is estimated to run out of memory: begin with no. {number, number}.",
    "zh-cn": "按估算基线会显存不足：从第 {number, number} 项开始。",
  },
  fallbacks: {
    en: "The baseline fits by the estimate: the changes are for the case that it does not when measured.",
    "zh-cn": "按估算基线可以容纳：这些改动用于实测不能容纳的情况。",
  },
  noneFits: {
    en: "By the estimate no single change is enough: keep the one that saves most, measure it, and make it the baseline of the next.",
    "zh-cn": "按估算任何单项改动都不够：保留节省最多的一项，测量后作为下一项的基线。",
  },
  uncertain: {
    en: "Estimates here are lower bounds: only measuring says which change is enough.",
    "zh-cn": "此处的估算只是下界：哪项改动足够只有测量才知道。",
  },
  noOptions: {
    en: "Which changes would help is not computed yet: {missing}.",
    "zh-cn": "还无法计算哪些改动有用：{missing}。",
  },
  missingLimit: { en: "neither device nor budget is given", "zh-cn": "没有给出设备或显存预算" },
  missingModel: { en: "model or input is not known", "zh-cn": "模型或输入未知" },
  yes: { en: "yes", "zh-cn": "是" },
  no: { en: "no", "zh-cn": "否" },
  atLeast: { en: "at least {size}", "zh-cn": "至少 {size}" },
  nothing: { en: "nothing: it is what the others are compared with", "zh-cn": "无：其他各项以此为对照" },
  watchBatch: {
    en: "same effective batch, but batch statistics (`BatchNorm`) see fewer samples; time a step",
    "zh-cn": "有效批大小不变，但批统计（`BatchNorm`）的样本更少；每步时间",
  },
  watchPrecision: {
    en: "overflow and underflow, quality of rare classes, layers that stay in fp32",
    "zh-cn": "上溢与下溢、稀有类别的质量、保持 fp32 的层",
  },
  watchCheckpoint: {
    en: "time a step (forward runs again in backward), random state inside of blocks (dropout)",
    "zh-cn": "每步时间（反向中再次前向）、模块内的随机状态（dropout）",
  },
  watchOptimizer: {
    en: "the loss curve against the baseline's; where the optimizer's arithmetic changes, the learning rate may need a new search",
    "zh-cn": "与基线对比损失曲线；若优化器的计算方式改变，可能需要重新搜索学习率",
  },
  watchShard: {
    en: "time a step (communication), the effective batch: it grows with the devices",
    "zh-cn": "每步时间（通信）、有效批大小：随设备数增大",
  },
} satisfies Record<string, MessageText>;

export const planAcceptance = {
  memoryBudget: {
    en: "Peak allocated of every step, validation included, stays at or below the budget of {limit}.",
    "zh-cn": "包括验证在内，每一步的已分配峰值不超过显存预算 {limit}。",
  },
  memoryDevice: {
    en: "Peak reserved and the CUDA context together stay below the device's {limit}.",
    "zh-cn": "已保留峰值与 CUDA 上下文之和低于设备的 {limit}。",
  },
  memoryOpen: { en: "Peak allocated stays at or below: {fill}", "zh-cn": "已分配峰值不超过：{fill}" },
  flat: {
    en: "The peak of the last epoch is the peak of the second one: nothing grows from step to step.",
    "zh-cn": "最后一个轮次的峰值等于第二个轮次的峰值：没有随步数增长的部分。",
  },
  estimate: {
    en: "Measured and estimated peak differ by less than {percent, number} %; a larger difference is explained before going on.",
    "zh-cn": "实测与估算峰值相差小于 {percent, number} %；差距更大时先解释再继续。",
  },
  quality: {
    en: "Quality of no class falls by more than: {fill} (and by more than the spread over seeds).",
    "zh-cn": "任何类别的质量下降不超过：{fill}（并超过随机种子间的波动才算下降）。",
  },
  time: { en: "Time a step grows by no more than: {fill}", "zh-cn": "每步时间增加不超过：{fill}" },
} satisfies Record<string, MessageText>;

export const planFallback = {
  over: {
    en: "Over the limit when measured: take the next change of the table; never raise the budget to make a run pass.",
    "zh-cn": "实测超出限制：采用表中的下一项改动；不要为了通过而提高预算。",
  },
  quality: {
    en: "Quality below the limit above: take the change back and go on with the next one.",
    "zh-cn": "质量低于上述标准：撤回该改动，继续下一项。",
  },
  outOfMemory: {
    en: "Out of memory in a running job: stop, keep the last checkpoint, record micro-batch and peak as a measured point; no automatic retry with another micro-batch, which would change the experiment.",
    "zh-cn":
      "作业中显存不足：停止，保留最近的检查点，把微批次与峰值记为实测点；不要自动换微批次重试，那会改变实验。",
  },
  last: { en: "Nothing of the table is enough: {fill}", "zh-cn": "表中各项都不够：{fill}" },
} satisfies Record<string, MessageText>;
