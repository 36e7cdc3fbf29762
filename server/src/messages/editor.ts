/** Texts of the language server: actions, hovers, hints, notes. */
import type { MessageText } from "./message";

export const editorMessages = {
  tooLarge: {
    en: "This file is larger than 1 MiB; vramlint does not analyse it.",
    "zh-cn": "此文件超过 1 MiB，vramlint 不会分析它。",
  },
  ignoreOnLine: { en: "Ignore {rule} on this line", "zh-cn": "在此行忽略 {rule}" },
  ignoreInFile: { en: "Ignore {rule} in this file", "zh-cn": "在此文件中忽略 {rule}" },
  openRulePage: { en: "Open the page about {rule}", "zh-cn": "打开 {rule} 的说明页" },
  fixAll: { en: "Apply all safe vramlint fixes", "zh-cn": "应用所有安全的 vramlint 修复" },
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
  part: { en: "Part", "zh-cn": "组成" },
  size: { en: "Memory", "zh-cn": "显存" },
  parameters: { en: "Parameters", "zh-cn": "参数" },
  buffers: { en: "Buffers", "zh-cn": "缓冲区" },
  gradients: { en: "Gradients", "zh-cn": "梯度" },
  optimizer: { en: "Optimizer state ({name})", "zh-cn": "优化器状态（{name}）" },
  optimizerUnknown: { en: "Optimizer state", "zh-cn": "优化器状态" },
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
  assumed: { en: "Computed for {assumptions}", "zh-cn": "计算条件：{assumptions}" },
  unknownAtLine: { en: "line {line}: {reason}", "zh-cn": "第 {line} 行：{reason}" },
  more: { en: "and {count, number} more", "zh-cn": "另有 {count, number} 处" },
  effectiveBatch: {
    en: "Effective batch: {batch, number} × {accumulate, number} accumulation steps × {devices, number} devices = {effective, number}",
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
  option: { en: "from the options", "zh-cn": "来自选项" },
  header: { en: "from the header", "zh-cn": "来自注释" },
  script: { en: "from the script", "zh-cn": "来自脚本" },
  default: { en: "assumed", "zh-cn": "默认" },
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
  statesOnly: { en: "{need}, model states", "zh-cn": "{need}，不含激活" },
} satisfies Record<string, MessageText>;
