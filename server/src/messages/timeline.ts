/** Why a timeline cannot be shown, or one of its controls not be used. */
import type { MessageText } from "./message";

export const timelineTexts = {
  changedHere: { en: "Changed here", "zh-cn": "在此更改" },
  notTraining: {
    en: "This file neither imports PyTorch nor trains.",
    "zh-cn": "此文件既未导入 PyTorch，也不进行训练。",
  },
  tooLarge: {
    en: "This file is larger than 1 MiB; vramlint does not analyse it.",
    "zh-cn": "此文件超过 1 MiB，vramlint 不会分析它。",
  },
  failed: {
    en: "The analysis of this file failed; the log says why.",
    "zh-cn": "此文件的分析失败，原因见日志。",
  },
  disabled: {
    en: "vramlint is switched off for this file in the settings.",
    "zh-cn": "vramlint 已在设置中对此文件关闭。",
  },
  noModel: {
    en: "No model was found: the file has no class that is an nn.Module, and no `# vram: model=` names one.",
    "zh-cn": "未找到模型：文件中没有 nn.Module 的子类，也没有 `# vram: model=` 指明模型。",
  },
  noInput: {
    en: "The shape of the model's input is not known. A budget header can say it: `# vram: {example}`.",
    "zh-cn": "模型输入的形状未知。可以在显存预算注释中写明：`# vram: {example}`。",
  },
  noMoment: {
    en: "The step allocates nothing that could be followed.",
    "zh-cn": "该训练步中没有可以跟踪的显存分配。",
  },
  fixedBatch: {
    en: "Nothing that the step is given depends on the micro-batch: no input has `B` as a dimension.",
    "zh-cn": "该训练步的输入与微批次无关：没有任何输入以 `B` 为维度。",
  },
  noBlocks: {
    en: "The model has no stack of repeated blocks that could be checkpointed one by one.",
    "zh-cn": "模型中没有可以逐个设为检查点的重复模块。",
  },
  ownCheckpoints: {
    en: "The code checkpoints parts of the model itself.",
    "zh-cn": "代码本身已对模型的部分使用激活检查点。",
  },
  namedCheckpoints: {
    en: "The header names the checkpointed classes: {names}.",
    "zh-cn": "注释已指明使用检查点的类：{names}。",
  },
  noTraining: {
    en: "Nothing is trained: `mode=infer`.",
    "zh-cn": "不进行训练：`mode=infer`。",
  },
} satisfies Record<string, MessageText>;
