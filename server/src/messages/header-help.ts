/** What completion and hover say of the keys of the budget header. */
import type { MessageText } from "./message";

export const keyHelp = {
  device: {
    en: "The GPU: its memory, or a card's name, which stands for what PyTorch can use of it. Without a budget the device itself is the limit.",
    "zh-cn": "GPU：显存大小，或显卡名称（表示 PyTorch 实际可用的显存）。没有预算时以设备显存为上限。",
  },
  budget: {
    en: "How much of the device the training step may take.",
    "zh-cn": "单个训练步最多可以占用的显存。",
  },
  batch: {
    en: "Micro-batch: samples in one forward on one device. When absent it is taken from the script, else 1.",
    "zh-cn": "微批次：一个设备一次前向的样本数。省略时取自脚本，否则为 1。",
  },
  accumulate: {
    en: "Micro-batches for one optimizer step. When absent it is taken from the script, else 1.",
    "zh-cn": "每次优化器更新累积的微批次数。省略时取自脚本，否则为 1。",
  },
  devices: {
    en: "Number of devices that train together. When absent it is taken from the script, else 1.",
    "zh-cn": "共同训练的设备数。省略时取自脚本，否则为 1。",
  },
  input: {
    en: "What the model is called with: dtype and dimensions, `B` for the micro-batch, `<n` for the upper bound of integers. Repeat the key for several inputs; `input=mask=bool[B,16]` passes one by name.",
    "zh-cn":
      "模型的输入：数据类型与各维大小，`B` 表示微批次，`<n` 表示整数的上界。多个输入时重复该键；`input=mask=bool[B,16]` 按名称传入。",
  },
  target: {
    en: "What the loss compares the output with, written like an input. When absent it is like the output, where the loss needs one.",
    "zh-cn": "损失函数用来与输出比较的目标，写法与输入相同。省略时与输出相同（若损失需要）。",
  },
  loss: {
    en: "The loss: one of these, `model` when forward returns it, `none` for a bare forward, or a function of this file called as f(output, target). When absent it is taken from the script, else the sum of the outputs.",
    "zh-cn":
      "损失：以下之一；forward 直接返回损失时用 `model`，只做前向用 `none`，也可以是本文件中以 f(output, target) 调用的函数。省略时取自脚本，否则为输出之和。",
  },
  model: {
    en: "The model that is trained: a class of this file or an expression that makes it. When absent it is the one that the script makes.",
    "zh-cn": "要训练的模型：本文件中的类，或创建它的表达式。省略时为脚本创建的模型。",
  },
  args: {
    en: "The command line that starts the script, as in a shell: what its arguments are instead of their defaults. Commas in values need quotes; several lines add up.",
    "zh-cn":
      "启动脚本的命令行，写法与 shell 相同：用来代替各参数的默认值。值中含逗号时须加引号；可分多行书写。",
  },
  optimizer: {
    en: "The optimizer, which decides what its state takes; options in brackets, such as `adamw(fused)`. When absent it is taken from the script.",
    "zh-cn": "优化器，决定其状态占用的显存；选项写在括号中，如 `adamw(fused)`。省略时取自脚本。",
  },
  precision: {
    en: "Number format: `amp-…` is mixed precision with fp32 weights, `fp16` and `bf16` are pure. When absent it is taken from the script, else fp32.",
    "zh-cn":
      "数值精度：`amp-…` 为混合精度（权重保持 fp32），`fp16` 与 `bf16` 为纯低精度。省略时取自脚本，否则为 fp32。",
  },
  attention: {
    en: "The kernel behind scaled_dot_product_attention. When absent: flash where precision and head size allow, else efficient.",
    "zh-cn":
      "scaled_dot_product_attention 使用的内核。省略时：精度与头维度允许则为 flash，否则为 efficient。",
  },
  checkpoint: {
    en: "Activation checkpointing: `all` repeated blocks, or the class names of the blocks. When absent, what the code itself does.",
    "zh-cn": "激活检查点：`all` 表示所有重复的模块，也可以写模块的类名。省略时以代码为准。",
  },
  shard: {
    en: "How model states are spread over the devices. When absent it is taken from the script, else none.",
    "zh-cn": "参数、梯度与优化器状态在多个设备间的分片方式。省略时取自脚本，否则不分片。",
  },
  offload: {
    en: "What is kept in host memory instead of on the device.",
    "zh-cn": "哪些内容放在主机内存而不是设备上。",
  },
  measured: {
    en: "Measured peaks of allocated memory, micro-batch and size, with spaces between: a line is laid through them.",
    "zh-cn": "实测的已分配显存峰值，按“微批次:大小”书写并以空格分隔：据此拟合直线。",
  },
  mode: {
    en: "Whether a training step or a forward without gradients is asked about; train when absent.",
    "zh-cn": "询问的是训练步还是不带梯度的前向；省略时为 train。",
  },
} satisfies Record<string, MessageText>;

export const headerHelpTexts = {
  example: { en: "Example: {example}", "zh-cn": "示例：{example}" },
  values: { en: "Values: {values}", "zh-cn": "可选值：{values}" },
  usable: { en: "{size} usable", "zh-cn": "可用 {size}" },
  setBatch: {
    en: "Set batch to {batch, number}, the largest that fits",
    "zh-cn": "将 batch 设为可容纳的最大值 {batch, number}",
  },
  setBatchInBoth: {
    en: "Set batch to {batch, number}, the largest that fits, here and in the script",
    "zh-cn": "将此处和脚本中的 batch 设为可容纳的最大值 {batch, number}",
  },
  setInput: {
    en: "Write an input into the header, with sizes to adjust: {entries}",
    "zh-cn": "将输入写入注释（尺寸请自行调整）：{entries}",
  },
  setArguments: {
    en: "Write the command line into the header, with values to adjust: {entries}",
    "zh-cn": "将命令行写入注释（值请自行调整）：{entries}",
  },
  setOption: {
    en: "Write into the header: {change} ({size})",
    "zh-cn": "写入注释：{change}（{size}）",
  },
} satisfies Record<string, MessageText>;
