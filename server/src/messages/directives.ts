/** Texts about the `# vram:` comments: the budget header, its verdicts, suppressions. */
import type { MessageText } from "./message";

/** Mistakes in the header, reported on the exact span. */
export const headerMessages = {
  notInHead: {
    en: "`{key}` belongs to the budget header, which stands before the first statement of the file: here it counts for nothing.",
    "zh-cn": "`{key}` 属于显存预算注释，必须写在文件的第一条语句之前；写在此处不起作用。",
  },
  notAnEntry: {
    en: "`{text}` is not understood: the header consists of `key=value`, separated by commas.",
    "zh-cn": "无法理解 `{text}`：显存预算注释由逗号分隔的 `键=值` 组成。",
  },
  unknownKey: {
    en: "The header has no key `{key}`. Keys: {keys}.",
    "zh-cn": "显存预算注释没有键 `{key}`。可用的键：{keys}。",
  },
  unknownKeyNearest: {
    en: "The header has no key `{key}`; `{nearest}` is probably meant.",
    "zh-cn": "显存预算注释没有键 `{key}`，您可能想写 `{nearest}`。",
  },
  repeatedKey: {
    en: "`{key}` is given twice; the first value, `{first}`, counts.",
    "zh-cn": "`{key}` 出现了两次；以第一个值 `{first}` 为准。",
  },
  missingValue: {
    en: "`{key}` has no value. Example: `{example}`.",
    "zh-cn": "`{key}` 没有值。示例：`{example}`。",
  },
  strayBracket: {
    en: "This bracket has no partner.",
    "zh-cn": "括号不匹配。",
  },
  badSize: {
    en: "`{text}` is not a size. Sizes look like `6.5GiB`, `6656MiB` or `8GB` (decimal).",
    "zh-cn": "`{text}` 不是有效的大小。写法如 `6.5GiB`、`6656MiB` 或 `8GB`（十进制）。",
  },
  sizeWithoutUnit: {
    en: "`{text}` has no unit: GiB, MiB or (decimal) GB, MB.",
    "zh-cn": "`{text}` 缺少单位：GiB、MiB，或十进制的 GB、MB。",
  },
  unknownDevice: {
    en: "`{text}` is neither a size nor a card known here. Give the usable memory instead, e.g. `device=8GiB`.",
    "zh-cn": "`{text}` 既不是大小，也不是已知的显卡。请直接写可用显存，例如 `device=8GiB`。",
  },
  unknownDeviceNearest: {
    en: "`{text}` is neither a size nor a card known here; `{nearest}` is probably meant.",
    "zh-cn": "`{text}` 既不是大小，也不是已知的显卡，您可能想写 `{nearest}`。",
  },
  badInteger: {
    en: "`{key}` is a whole number of at least 1, not `{text}`.",
    "zh-cn": "`{key}` 必须是不小于 1 的整数，而不是 `{text}`。",
  },
  countTooLarge: {
    en: "`{key}` of {text} is more than any run has; the limit is {limit}.",
    "zh-cn": "`{key}` 为 {text}，超出任何实际训练的规模；上限为 {limit}。",
  },
  badChoice: {
    en: "`{text}` is no value of `{key}`. Values: {choices}.",
    "zh-cn": "`{text}` 不是 `{key}` 的有效值。可用的值：{choices}。",
  },
  badChoiceNearest: {
    en: "`{text}` is no value of `{key}`; `{nearest}` is probably meant.",
    "zh-cn": "`{text}` 不是 `{key}` 的有效值，您可能想写 `{nearest}`。",
  },
  missingShape: {
    en: "The shape is missing: `{dtype}[B, …]`, with `B` for the micro-batch.",
    "zh-cn": "缺少形状：写作 `{dtype}[B, …]`，其中 `B` 表示微批次。",
  },
  badTensor: {
    en: "`{text}` is not understood: a tensor looks like `float32[B,3,32,32]` or `tokens=int64[B,128]<50304`.",
    "zh-cn": "无法理解 `{text}`：张量写法如 `float32[B,3,32,32]` 或 `tokens=int64[B,128]<50304`。",
  },
  unknownDtype: {
    en: "`{text}` is no dtype. Dtypes: {choices}.",
    "zh-cn": "`{text}` 不是 dtype。可用的 dtype：{choices}。",
  },
  unknownDtypeNearest: {
    en: "`{text}` is no dtype; `{nearest}` is probably meant.",
    "zh-cn": "`{text}` 不是 dtype，您可能想写 `{nearest}`。",
  },
  badDimension: {
    en: "`{text}` is no dimension: dimensions are whole numbers of at least 1, `B`, other capital letters, and products such as `35*B`.",
    "zh-cn":
      "`{text}` 不是有效的维度：维度可以是不小于 1 的整数、`B`、其他大写字母，以及 `35*B` 这样的乘积。",
  },
  letterWithoutValue: {
    en: "`{letter}` has no value; add for example `{letter}=128` to the header.",
    "zh-cn": "`{letter}` 没有值；请在注释中加上，例如 `{letter}=128`。",
  },
  batchLetter: {
    en: "`B` is the micro-batch; its value is given with `batch=`.",
    "zh-cn": "`B` 表示微批次，其值用 `batch=` 给出。",
  },
  dimensionTooLarge: {
    en: "This dimension is too large to compute with.",
    "zh-cn": "该维度过大，无法计算。",
  },
  batchTwice: {
    en: "`B` stands twice in one dimension; write two dimensions or a number.",
    "zh-cn": "同一维度中 `B` 出现了两次；请写成两个维度或一个数值。",
  },
  boundOfFloat: {
    en: "`<{bound}` bounds the values of integer inputs; `{dtype}` has none.",
    "zh-cn": "`<{bound}` 是整数输入取值的上界；`{dtype}` 不适用。",
  },
  badBound: {
    en: "`{text}` is no bound: a whole number of at least 1, such as `<50304`.",
    "zh-cn": "`{text}` 不是有效的上界：应为不小于 1 的整数，例如 `<50304`。",
  },
  repeatedName: {
    en: "The name `{name}` is given to two tensors.",
    "zh-cn": "名称 `{name}` 用于了两个张量。",
  },
  badExpression: {
    en: "`{text}` is not a Python expression that names or builds a model, such as `Net` or `Net(width=64)`.",
    "zh-cn": "`{text}` 不是指定或构建模型的 Python 表达式，例如 `Net` 或 `Net(width=64)`。",
  },
  unknownName: {
    en: "This file defines nothing named `{name}`.",
    "zh-cn": "本文件没有定义名为 `{name}` 的对象。",
  },
  unknownNameNearest: {
    en: "This file defines nothing named `{name}`; `{nearest}` is probably meant.",
    "zh-cn": "本文件没有定义名为 `{name}` 的对象，您可能想写 `{nearest}`。",
  },
  unknownLoss: {
    en: "`{text}` is neither a loss known here ({choices}) nor a function of this file.",
    "zh-cn": "`{text}` 既不是已知的损失函数（{choices}），也不是本文件中的函数。",
  },
  unknownLossNearest: {
    en: "`{text}` is neither a loss known here nor a function of this file; `{nearest}` is probably meant.",
    "zh-cn": "`{text}` 既不是已知的损失函数，也不是本文件中的函数，您可能想写 `{nearest}`。",
  },
  badOptimizer: {
    en: "`{text}` is not understood: an optimizer looks like `adamw`, `adamw(fused)` or `sgd(momentum=0.9)`.",
    "zh-cn": "无法理解 `{text}`：优化器写法如 `adamw`、`adamw(fused)` 或 `sgd(momentum=0.9)`。",
  },
  badOption: {
    en: "`{text}` is no option: write `name` or `name=value` with a number, `True`, `False` or a word.",
    "zh-cn": "`{text}` 不是有效的选项：写作 `名称` 或 `名称=值`，值为数字、`True`、`False` 或单词。",
  },
  badMeasured: {
    en: "`{text}` is no measured point: write micro-batch and peak, such as `16:1.8GiB`, with spaces between points.",
    "zh-cn": "`{text}` 不是有效的实测点：写作“微批次:峰值”，例如 `16:1.8GiB`，各点之间用空格分隔。",
  },
  unknownOption: {
    en: "The script has no option `{name}`; `{nearest}` is probably meant.",
    "zh-cn": "脚本没有选项 `{name}`，您可能想写 `{nearest}`。",
  },
  optionWithoutValue: {
    en: "The script's option `{name}` takes a value.",
    "zh-cn": "脚本的选项 `{name}` 需要一个值。",
  },
  badOptionNumber: {
    en: "The script reads a number from `{name}`, not `{text}`.",
    "zh-cn": "脚本从 `{name}` 读取数值，而不是 `{text}`。",
  },
  badOptionChoice: {
    en: "`{text}` is no value of the script's option `{name}`. Values: {choices}.",
    "zh-cn": "`{text}` 不是脚本选项 `{name}` 的有效值。可用的值：{choices}。",
  },
  missingComma: {
    en: "Entries are separated by commas: one is missing before `{key}`.",
    "zh-cn": "各项之间用逗号分隔：`{key}` 前缺少逗号。",
  },
  measuredByComma: {
    en: "Measured points are separated by spaces, not commas.",
    "zh-cn": "实测点之间用空格分隔，而不是逗号。",
  },
  budgetAboveDevice: {
    en: "The budget, {budget}, is larger than the device, {device}.",
    "zh-cn": "显存预算 {budget} 大于设备显存 {device}。",
  },
  changeTo: {
    en: "Change `{from}` to `{to}`",
    "zh-cn": "将 `{from}` 改为 `{to}`",
  },
  removeEntry: {
    en: "Remove `{text}`",
    "zh-cn": "删除 `{text}`",
  },
} as const satisfies Record<string, MessageText>;

/** What the header's budget and the script come to. */
export const budgetMessages = {
  overBudget: {
    en: "Needs {needed}, {over} over the budget of {budget}.{where}",
    "zh-cn": "需要 {needed}，超出显存预算 {budget} 共 {over}。{where}",
  },
  overBudgetAtLeast: {
    en: "Needs at least {needed}, {over} over the budget of {budget}; parts of the step are not known.{where}",
    "zh-cn": "至少需要 {needed}，超出显存预算 {budget} 共 {over}（训练步中尚有未知部分）。{where}",
  },
  overDevice: {
    en: "Needs {needed}, {over} more than the device's {device}.{where}",
    "zh-cn": "需要 {needed}，比设备显存 {device} 多 {over}。{where}",
  },
  overDeviceAtLeast: {
    en: "Needs at least {needed}, {over} more than the device's {device}; parts of the step are not known.{where}",
    "zh-cn": "至少需要 {needed}，比设备显存 {device} 多 {over}（训练步中尚有未知部分）。{where}",
  },
  nowhere: { en: "", "zh-cn": "" },
  peakAt: {
    en: " The peak is in the {phase} at line {line}.",
    "zh-cn": "峰值出现在第 {line} 行的{phase}。",
  },
  peakIn: {
    en: " The peak is in the {phase}.",
    "zh-cn": "峰值出现在{phase}。",
  },
  forward: { en: "forward pass", "zh-cn": "前向传播" },
  backward: { en: "backward pass", "zh-cn": "反向传播" },
  step: { en: "optimizer step", "zh-cn": "优化器更新" },
  peakHere: { en: "The step's peak is here.", "zh-cn": "一个训练步的峰值在此处。" },
  notUnderstood: { en: "Not understood: {reason}", "zh-cn": "无法理解：{reason}" },
  noHeadroom: {
    en: "The budget leaves {headroom} of the device ({percent} % used). The CUDA context and the allocator's reserve need room too: a budget of at most 90 % is safer.",
    "zh-cn":
      "该显存预算只给设备留下 {headroom}（占用 {percent} %）。CUDA 上下文和分配器的保留也需要空间：预算不超过 90 % 更稳妥。",
  },
  disagrees: {
    en: "The header says {key} {header}, the script {script}.",
    "zh-cn": "显存预算注释中的 {key} 为 {header}，而脚本中为 {script}。",
  },
  scriptSays: { en: "The script says {script} here.", "zh-cn": "脚本在此处写的是 {script}。" },
  takeScriptValue: {
    en: "Take the script's value: `{key}={script}`",
    "zh-cn": "采用脚本中的值：`{key}={script}`",
  },
} as const satisfies Record<string, MessageText>;

/** Suppressions that miss. */
export const suppressionMessages = {
  unused: {
    en: "This suppression hides nothing: there is no `{rule}` here.",
    "zh-cn": "该忽略注释没有作用：此处没有 `{rule}`。",
  },
  unusedEnable: {
    en: "`{rule}` is not disabled here: there is nothing to enable.",
    "zh-cn": "此处并未禁用 `{rule}`，无需启用。",
  },
  misplacedIgnoreFile: {
    en: "`ignore-file` counts only before the first statement of the file.",
    "zh-cn": "`ignore-file` 只有写在文件的第一条语句之前才有效。",
  },
  unknownRule: {
    en: "There is no rule `{rule}`.",
    "zh-cn": "没有名为 `{rule}` 的规则。",
  },
  unknownRuleNearest: {
    en: "There is no rule `{rule}`; `{nearest}` is probably meant.",
    "zh-cn": "没有名为 `{rule}` 的规则，您可能想写 `{nearest}`。",
  },
  unknownWord: {
    en: "`{word}` is not understood; `{nearest}` is probably meant.",
    "zh-cn": "无法理解 `{word}`，您可能想写 `{nearest}`。",
  },
  namesNoRule: {
    en: "`{word}` hides nothing without a rule in brackets: `{word}[rule]`.",
    "zh-cn": "`{word}` 后面没有在方括号中写出规则，不起作用：写作 `{word}[规则]`。",
  },
  malformed: {
    en: "`{text}` is not understood: write `{word}[rule]`, and a reason after ` -- `.",
    "zh-cn": "无法理解 `{text}`：写作 `{word}[规则]`，理由写在 ` -- ` 之后。",
  },
  removeComment: { en: "Remove the comment", "zh-cn": "删除该注释" },
  removeRule: { en: "Remove `{rule}` from the comment", "zh-cn": "从注释中删除 `{rule}`" },
  correct: { en: "Change `{from}` to `{to}`", "zh-cn": "将 `{from}` 改为 `{to}`" },
} as const satisfies Record<string, MessageText>;

/** One line each for the rules that speak about `# vram:` comments. */
export const directiveRuleSummaries = {
  "budget-exceeded": {
    en: "The training step needs more than the header's budget.",
    "zh-cn": "一个训练步所需显存超出注释中的显存预算。",
  },
  "device-exceeded": {
    en: "The training step needs more than the header's device has.",
    "zh-cn": "一个训练步所需显存超出注释中设备的显存。",
  },
  "budget-invalid": {
    en: "Something in the `# vram:` header is not understood.",
    "zh-cn": "`# vram:` 显存预算注释中有无法理解的内容。",
  },
  "budget-disagrees-with-script": {
    en: "Header and script give different values.",
    "zh-cn": "显存预算注释与脚本中的值不一致。",
  },
  "budget-leaves-no-headroom": {
    en: "The budget takes more than 90 % of the device.",
    "zh-cn": "显存预算超过设备显存的 90 %。",
  },
  "suppression-unused": {
    en: "A suppression hides nothing.",
    "zh-cn": "忽略注释没有隐藏任何问题。",
  },
  "suppression-unknown-rule": {
    en: "A suppression names no rule.",
    "zh-cn": "忽略注释中的规则不存在。",
  },
} as const satisfies Record<string, MessageText>;

/** Appended to the title of a fix that must be looked at. */
export const reviewTitle: MessageText = { en: "{title} (review)", "zh-cn": "{title}（需复核）" };
