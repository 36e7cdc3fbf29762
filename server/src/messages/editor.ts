/** Texts of the language server: actions, hovers, hints, notes. */
import type { MessageText } from "./message";

export const editorMessages = {
  tooLarge: {
    en: "This file is larger than 1 MiB; vramlint does not analyse it.",
    "zh-cn": "此文件超过 1 MiB，vramlint 不会分析它。",
  },
  inCell: { en: "Cell {cell, number}: {message}", "zh-cn": "第 {cell, number} 个单元格：{message}" },
  scanning: { en: "Checking the workspace", "zh-cn": "正在检查工作区" },
  scanned: {
    en: "{done, number} of {all, number} files",
    "zh-cn": "{done, number} / {all, number} 个文件",
  },
  ignoreOnLine: { en: "Ignore {rule} on this line", "zh-cn": "在此行忽略 {rule}" },
  ignoreInFile: { en: "Ignore {rule} in this file", "zh-cn": "在此文件中忽略 {rule}" },
  openRulePage: { en: "Open the page about {rule}", "zh-cn": "打开 {rule} 的说明页" },
  fixAll: { en: "Apply all safe vramlint fixes", "zh-cn": "应用所有安全的 vramlint 修复" },
} satisfies Record<string, MessageText>;

/** Budget and device in the hover over the trained model. */
export const fitHoverTexts = {
  fitsBudget: {
    en: "Within the budget of {limit}: {percent, number} % used.",
    "zh-cn": "在显存预算 {limit} 之内：占用 {percent, number} %。",
  },
  fitsDevice: {
    en: "Within the device's {limit}: {percent, number} % used.",
    "zh-cn": "在设备显存 {limit} 之内：占用 {percent, number} %。",
  },
  overBudget: { en: "Over the budget of {limit} by {over}.", "zh-cn": "超出显存预算 {limit}，多 {over}。" },
  overDevice: { en: "Over the device's {limit} by {over}.", "zh-cn": "超出设备显存 {limit}，多 {over}。" },
  largestUnderBudget: {
    en: "Largest micro-batch under the budget: {batch, number}",
    "zh-cn": "显存预算内最大的微批次：{batch, number}",
  },
  largestOnDevice: {
    en: "Largest micro-batch on the device: {batch, number}",
    "zh-cn": "设备可容纳的最大微批次：{batch, number}",
  },
  whatFits: { en: "What would make it fit:", "zh-cn": "怎样才能容纳：" },
  nothingFits: { en: "No single change makes it fit:", "zh-cn": "任何单项改动都不足以容纳：" },
  tried: { en: "What would need less:", "zh-cn": "可以减少占用的改动：" },
  option: { en: "{change}: {size}", "zh-cn": "{change}：{size}" },
  notEnough: { en: "{change}: {size}, not enough", "zh-cn": "{change}：{size}，仍然不够" },
} satisfies Record<string, MessageText>;

/** The hover over a layer in `__init__` and over a call in `forward`. */
export const layerTexts = {
  layer: { en: "Layer", "zh-cn": "层" },
  parameters: { en: "Parameters", "zh-cn": "参数" },
  output: { en: "Output", "zh-cn": "输出" },
  saved: { en: "Saved for backward", "zh-cn": "为反向保存" },
  runs: { en: "Runs in a step", "zh-cn": "每步运行次数" },
  together: { en: "Together", "zh-cn": "合计" },
  notCalled: { en: "not called", "zh-cn": "未调用" },
  nothing: { en: "nothing new", "zh-cn": "无新增" },
  count: { en: "{count, number}", "zh-cn": "{count, number}" },
  more: { en: "and {count, number} more", "zh-cn": "另有 {count, number} 个" },
  atBatch: {
    en: "For a micro-batch of {batch, number}. Saved counts what no earlier call saved.",
    "zh-cn": "微批次为 {batch, number} 时。只计入之前的调用尚未保存的部分。",
  },
} satisfies Record<string, MessageText>;

/** The hover over a model and its hints. */
export const modelTexts = {
  parameterCount: {
    en: "{count, number} parameters, {trainable, number} of them trainable",
    "zh-cn": "{count, number} 个参数，其中 {trainable, number} 个可训练",
  },
  allTrainable: {
    en: "{count, number} parameters, all trainable",
    "zh-cn": "{count, number} 个参数，全部可训练",
  },
  showTimeline: { en: "Show the memory timeline", "zh-cn": "显示显存时间线" },
  part: { en: "Part", "zh-cn": "组成" },
  size: { en: "Memory", "zh-cn": "显存" },
  parameters: { en: "Parameters", "zh-cn": "参数" },
  buffers: { en: "Buffers", "zh-cn": "缓冲区" },
  gradients: { en: "Gradients", "zh-cn": "梯度" },
  optimizer: { en: "Optimizer state ({name})", "zh-cn": "优化器状态（{name}）" },
  optimizerUnknown: { en: "Optimizer state", "zh-cn": "优化器状态" },
  host: { en: "Offloaded to the host's memory, a device", "zh-cn": "卸载到主机内存（每个设备）" },
  states: { en: "Model states together", "zh-cn": "参数、梯度与优化器状态合计" },
  saved: { en: "Activations saved for backward", "zh-cn": "激活（为反向保存）" },
  savedPerSample: { en: "{size}, {perSample} a sample", "zh-cn": "{size}，每个样本 {perSample}" },
  peak: { en: "Peak of a training step", "zh-cn": "单个训练步的峰值" },
  peakIn: { en: "{size}, in {phase}", "zh-cn": "{size}，出现在{phase}" },
  peakAtLine: {
    en: "{size}, in {phase} at line {line}",
    "zh-cn": "{size}，出现在{phase}，第 {line} 行",
  },
  unknown: { en: "unknown", "zh-cn": "未知" },
  atLeast: { en: "at least {size}", "zh-cn": "至少 {size}" },
  notUnderstood: { en: "Not understood, so not counted:", "zh-cn": "以下内容无法理解，未计入：" },
  notEstimated: { en: "Not estimated, because:", "zh-cn": "未能估算，原因：" },
  onDevice: { en: "On the device, about", "zh-cn": "设备上约" },
  onDeviceSize: { en: "{least} – {most}", "zh-cn": "{least} – {most}" },
  onDeviceFrom: { en: "{least} or more", "zh-cn": "不少于 {least}" },
  deviceNote: {
    en: "On the device: the peak, {least, number}–{most, number} % allocator slack,  \na CUDA context of {contextLeast}–{contextMost}, as measured on a T4;  \nlarger cards may take more.",
    "zh-cn":
      "设备上：峰值加上分配器余量 {least, number}–{most, number} %，  \n以及 CUDA 上下文 {contextLeast}–{contextMost}（在 T4 上测得）；  \n更大的显卡可能更多。",
  },
  temporary: { en: "Temporary at the peak", "zh-cn": "峰值处的临时张量" },
  grows: {
    en: "Activations grow with the micro-batch; the model states do not.",
    "zh-cn": "激活随微批次增大；参数、梯度与优化器状态不变。",
  },
  from: { en: "{origin}: {assumptions}", "zh-cn": "{origin}：{assumptions}" },
  unknownAtLine: { en: "line {line}: {reason}", "zh-cn": "第 {line} 行：{reason}" },
  more: { en: "and {count, number} more", "zh-cn": "另有 {count, number} 处" },
  effectiveBatch: {
    en: "Effective batch: {batch, number} × {accumulate, plural, one {# accumulation step} other {# accumulation steps}} × {devices, plural, one {# device} other {# devices}} = {effective, number}",
    "zh-cn":
      "有效批大小：{batch, number} × 累积 {accumulate, number} 次 × {devices, number} 个设备 = {effective, number}",
  },
} satisfies Record<string, MessageText>;

export const phaseNames = {
  forward: { en: "forward", "zh-cn": "前向" },
  backward: { en: "backward", "zh-cn": "反向" },
  step: { en: "the optimizer step", "zh-cn": "优化器更新" },
} satisfies Record<string, MessageText>;

/** As short as a hint needs them. */
export const hintPhases = {
  forward: phaseNames.forward,
  backward: phaseNames.backward,
  step: { en: "step", "zh-cn": "更新" },
} satisfies Record<string, MessageText>;

export const originNames = {
  option: { en: "From the options", "zh-cn": "来自选项" },
  header: { en: "From the header", "zh-cn": "来自注释" },
  script: { en: "From the script", "zh-cn": "来自脚本" },
  default: { en: "Assumed", "zh-cn": "默认" },
} satisfies Record<string, MessageText>;

/** Code lenses. */
export const lensTexts = {
  step: { en: "a training step: {step}", "zh-cn": "单个训练步：{step}" },
} satisfies Record<string, MessageText>;

/** Hints at the end of a line. VS Code cuts what is longer than 43 characters. */
export const hintTexts = {
  states: {
    en: "{sign} {size} of model states",
    "zh-cn": "{sign} {size}（参数、梯度与优化器状态）",
  },
  parameters: { en: "{sign} {size} of parameters", "zh-cn": "{sign} {size}（参数）" },
  need: { en: "{sign} {size}", "zh-cn": "{sign} {size}" },
  needOf: {
    en: "{sign} {figure} of {limit} {unit} ({percent, number} %)",
    "zh-cn": "{sign} {figure} / {limit} {unit}（{percent, number} %）",
  },
  peakIn: { en: "{need}, peak in {phase}", "zh-cn": "{need}，峰值在{phase}" },
  peakAtLine: { en: "{need}, peak at line {line}", "zh-cn": "{need}，峰值在第 {line} 行" },
  notUnderstood: {
    en: "{need}, {count, number} not understood",
    "zh-cn": "{need}，{count, number} 处无法理解",
  },
  lessThanOnePercent: {
    en: "{sign} {size} of {limit} {unit} (< 1 %)",
    "zh-cn": "{sign} {size} / {limit} {unit}（< 1 %）",
  },
  notEstimated: { en: "not estimated: {reason}", "zh-cn": "未能估算：{reason}" },
  notEstimatedAtLine: {
    en: "not estimated because of line {line}",
    "zh-cn": "未能估算，原因在第 {line} 行",
  },
  notEstimatedHere: { en: "not estimated, hover for the reason", "zh-cn": "未能估算，悬停可查看原因" },
  peakHere: { en: "{size}: the peak of the step", "zh-cn": "{size}：本步的峰值" },
  layer: { en: "{parameters, number} parameters", "zh-cn": "{parameters, number} 个参数" },
  layerKeeps: {
    en: "{parameters, number} parameters, saves {size}",
    "zh-cn": "{parameters, number} 个参数，保存 {size}",
  },
  layerKeepsNothing: {
    en: "{parameters, number} parameters, saves nothing new",
    "zh-cn": "{parameters, number} 个参数，无新增保存",
  },
  statesOnly: { en: "{need}, model states", "zh-cn": "{need}，不含激活" },
} satisfies Record<string, MessageText>;
