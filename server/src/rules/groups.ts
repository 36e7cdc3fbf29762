import type { MessageText } from "../messages/message";
import type { RuleGroup } from "./rule";

/** The groups of rules in the order in which lists show them; a group's key selects all its rules. */
export const groupTitles: Readonly<Record<RuleGroup, MessageText>> = {
  graph: { en: "Keeping the graph", "zh-cn": "计算图被保留" },
  "gradient-modes": { en: "Gradient modes", "zh-cn": "梯度模式" },
  accumulation: { en: "Gradient accumulation", "zh-cn": "梯度累积" },
  precision: { en: "Precision", "zh-cn": "精度" },
  checkpointing: { en: "Checkpointing", "zh-cn": "激活重计算" },
  allocator: { en: "Allocator, lifetime, measuring", "zh-cn": "分配器、生命周期与测量" },
  loading: { en: "Loading and copies", "zh-cn": "加载与复制" },
  data: { en: "Data", "zh-cn": "数据" },
  model: { en: "Model definitions", "zh-cn": "模型定义" },
  frameworks: { en: "Frameworks", "zh-cn": "训练框架" },
};
