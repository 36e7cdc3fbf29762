/** Bytes in the messages of rules. */
import type { MessageText } from "./message";

export const sizeTexts = {
  /** Of the graph that one call of the model builds. */
  graph: { en: "≈ {size} at batch {batch}", "zh-cn": "批大小为 {batch} 时约 {size}" },
  graphAtLeast: { en: "≥ {size} at batch {batch}", "zh-cn": "批大小为 {batch} 时至少 {size}" },
  /** Of weights or other states, whatever the batch. */
  states: { en: "≈ {size}", "zh-cn": "约 {size}" },
  statesAtLeast: { en: "≥ {size}", "zh-cn": "至少 {size}" },
  kept: { en: "≥ {size} each at batch {batch}", "zh-cn": "批大小为 {batch} 时每次至少 {size}" },
  keptUntilDevice: {
    en: "≥ {size} each at batch {batch}: {limit} of GPU memory are full after at most {count, plural, =0 {one iteration} one {# iteration} other {# iterations}}",
    "zh-cn": "批大小为 {batch} 时每次至少 {size}：最多 {count} 次迭代后，{limit} 的显存就会用尽",
  },
  keptUntilBudget: {
    en: "≥ {size} each at batch {batch}: the budget of {limit} is used up after at most {count, plural, =0 {one iteration} one {# iteration} other {# iterations}}",
    "zh-cn": "批大小为 {batch} 时每次至少 {size}：最多 {count} 次迭代后，{limit} 的显存预算就会用尽",
  },
} satisfies Record<string, MessageText>;
