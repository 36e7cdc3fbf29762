/** Why a part of an estimate is not known, and what an estimate rests on. */
import type { MessageText } from "./message";

export const unknownReasons = {
  call: { en: "the call of `{name}` is not understood", "zh-cn": "无法理解对 `{name}` 的调用" },
  chance: {
    en: "`{name}` draws at random: what comes out only a run can know",
    "zh-cn": "`{name}` 是随机抽取的：结果只有运行时才能得知",
  },
  notInstalled: {
    en: "`{library}` is not found in a Python environment known here, so `{name}` cannot be read: choose the interpreter that has it (in the editor, or with `--python`)",
    "zh-cn":
      "在此处已知的 Python 环境中找不到 `{library}`，因此无法读取 `{name}`：请选择装有它的解释器（在编辑器中，或用 `--python`）",
  },
  checkpoint: {
    en: "the configuration of the checkpoint `{name}` is not known: a model made from its configuration class says its sizes, e.g. `# vram: model=BertModel(BertConfig(hidden_size=256))`",
    "zh-cn":
      "无法得知检查点 `{name}` 的配置：可用其配置类写明模型的大小，例如 `# vram: model=BertModel(BertConfig(hidden_size=256))`",
  },
  quantised: {
    en: "scales of quantised weights are not counted",
    "zh-cn": "未计入量化权重的缩放因子",
  },
  name: { en: "`{name}` is not known here", "zh-cn": "此处无法得知 `{name}`" },
  import: { en: "`{name}` comes from another file", "zh-cn": "`{name}` 来自其他文件" },
  attribute: {
    en: "attribute `{name}` of `{type}` is not known",
    "zh-cn": "无法得知 `{type}` 的属性 `{name}`",
  },
  parameter: { en: "argument `{name}` is not known", "zh-cn": "无法得知参数 `{name}`" },
  commandLine: {
    en: "the script's argument `{name}` has no default. The header can say it: `# vram: {keys}`",
    "zh-cn": "脚本的参数 `{name}` 没有默认值。可在头部注释中写明：`# vram: {keys}`",
  },
  configurationFile: {
    en: "the configuration file `{name}` is not found in the workspace, is too large, or lies in several places",
    "zh-cn": "工作区中找不到配置文件 `{name}`，或其过大，或存在多处",
  },
  configurationText: {
    en: "the configuration is not understood",
    "zh-cn": "无法理解该配置",
  },
  reference: {
    en: "what `{text}` in the configuration stands for is not known",
    "zh-cn": "无法得知配置中 `{text}` 的含义",
  },
  argument: {
    en: "an argument of `{name}` is not known: {reason}",
    "zh-cn": "`{name}` 的参数未知：{reason}",
  },
  condition: {
    en: "which branch runs is not known: {reason}",
    "zh-cn": "无法得知执行哪个分支：{reason}",
  },
  loop: { en: "what the loop runs over is not known: {reason}", "zh-cn": "无法得知循环遍历的内容：{reason}" },
  tensorValue: {
    en: "this depends on the value of a tensor",
    "zh-cn": "这取决于张量的值",
  },
  syntax: { en: "the code here has a syntax error", "zh-cn": "此处代码有语法错误" },
  unsupported: { en: "`{what}` is not evaluated", "zh-cn": "不对 `{what}` 求值" },
  operator: {
    en: "operator `{operator}` between {left} and {right} is not understood",
    "zh-cn": "无法理解 {left} 与 {right} 之间的运算符 `{operator}`",
  },
  raised: { en: "the code raises {type}: {text}", "zh-cn": "代码抛出 {type}：{text}" },
  raisedBare: { en: "the code raises {type}", "zh-cn": "代码抛出 {type}" },
  steps: { en: "evaluation stopped after {steps} steps", "zh-cn": "求值在 {steps} 步后停止" },
  depth: { en: "calls or expressions are nested too deeply", "zh-cn": "调用或表达式嵌套过深" },
  size: { en: "a value grew too large to be followed", "zh-cn": "某个值过大，无法继续跟踪" },
  number: { en: "the number is too large to be followed", "zh-cn": "数字过大，无法继续跟踪" },
  base: { en: "base class `{name}` is not known", "zh-cn": "无法得知基类 `{name}`" },
  submodule: {
    en: "`{name}` may be a module whose parameters are not known: {reason}",
    "zh-cn": "`{name}` 可能是参数未知的模块：{reason}",
  },
  unknownBuffer: {
    en: "how large the buffer `{name}` is is not known: {reason}",
    "zh-cn": "无法得知缓冲区 `{name}` 的大小：{reason}",
  },
  unknownParameter: {
    en: "how large the parameter `{name}` is is not known: {reason}",
    "zh-cn": "无法得知参数 `{name}` 的大小：{reason}",
  },
  changedModule: {
    en: "`{name}` may change the module it is given",
    "zh-cn": "`{name}` 可能会修改传入的模块",
  },
  notModule: { en: "`{name}` does not give an nn.Module", "zh-cn": "`{name}` 得到的不是 nn.Module" },
  noModel: { en: "no model was found", "zh-cn": "未找到模型" },
  input: { en: "activations: input unknown", "zh-cn": "激活：输入未知" },
  inputBecause: {
    en: "activations: input unknown, because {reason}",
    "zh-cn": "激活：输入未知，原因是{reason}",
  },
  inputExample: {
    en: "activations: input unknown. The header can say it, with the length that your tokenizer gives: `# vram: {keys}`",
    "zh-cn": "激活：输入未知。可在头部注释中写明（长度以分词器的输出为准）：`# vram: {keys}`",
  },
  inputExampleImages: {
    en: "activations: input unknown. The header can say it: `# vram: {keys}`",
    "zh-cn": "激活：输入未知。可在头部注释中写明：`# vram: {keys}`",
  },
  inputExampleData: {
    en: "activations: input unknown. The header can say it, with the sizes of your data: `# vram: {keys}`",
    "zh-cn": "激活：输入未知。可在头部注释中写明（尺寸以你的数据为准）：`# vram: {keys}`",
  },
  inputExampleBecause: {
    en: "activations: input unknown, because {reason}. The header can say it, with the sizes of your data: `# vram: {keys}`",
    "zh-cn": "激活：输入未知，原因是{reason}。可在头部注释中写明（尺寸以你的数据为准）：`# vram: {keys}`",
  },
  imageChannels: {
    en: 'how many channels the images have is not known: no `.convert("RGB")` fixes it',
    "zh-cn": '图像的通道数未知：没有用 `.convert("RGB")` 固定',
  },
  imageSize: {
    en: "the size of the images is not known: no transform fixes it",
    "zh-cn": "图像的尺寸未知：没有变换将其固定",
  },
  dataSize: {
    en: "how large the data is in dimension {axis}, only a run can know",
    "zh-cn": "数据在第 {axis} 维的大小只有运行时才能得知",
  },
  dataType: {
    en: "the type of the data is not known: nothing in the script fixes it",
    "zh-cn": "数据的类型未知：脚本中没有内容将其固定",
  },
  dataFile: {
    en: "`{name}` reads a file, whose shape only a run can know",
    "zh-cn": "`{name}` 读取文件，其形状只有运行时才能得知",
  },
  padding: {
    en: "sequences are padded to the longest of a batch, whose length only a run can know",
    "zh-cn": "序列会填充到批次中最长者的长度，该长度只有运行时才能得知",
  },
  severalCalls: {
    en: "the model is called more than once in an iteration",
    "zh-cn": "一次迭代中多次调用了该模型",
  },
  severalBatches: {
    en: "loaders of different batch sizes feed the model",
    "zh-cn": "为模型提供数据的加载器批大小不同",
  },
  plainArgument: {
    en: "the model is called with `{what}`, which is no tensor",
    "zh-cn": "调用模型时传入了 `{what}`，它不是张量",
  },
  loss: { en: "loss `{name}` is not understood", "zh-cn": "无法理解损失 `{name}`" },
  scriptLoss: {
    en: "the script's loss is not understood: what it saves is not counted",
    "zh-cn": "无法理解脚本中的损失：未计入其保存的内容",
  },
  attention: {
    en: "the attention function `{name}` is not followed",
    "zh-cn": "未跟踪注意力函数 `{name}`",
  },
  hooks: { en: "hooks may keep or change tensors", "zh-cn": "钩子可能保留或改变张量" },
  doubleBackward: {
    en: "`{name}` with create_graph builds a graph of the backward, which is not counted",
    "zh-cn": "`{name}` 使用 create_graph 时会为反向传播再建一张计算图，未计入",
  },
  gradientCall: {
    en: "what `{name}` allocates on the way is not counted",
    "zh-cn": "未计入 `{name}` 过程中分配的内存",
  },
  replacedParameter: {
    en: "the forward replaces the parameter {name}; the one that the optimizer was given stays alive and is not counted",
    "zh-cn": "前向替换了参数 {name}；交给优化器的原参数仍然存活，未计入",
  },
  lineSearch: {
    en: "the line search keeps further vectors, which are not counted",
    "zh-cn": "线搜索会保留更多向量，未计入",
  },
  unknownStep: {
    en: "a step that is not understood: its optimizer state is not counted ({reason})",
    "zh-cn": "无法理解某个 step：未计入其优化器状态（{reason}）",
  },
  batchUnused: {
    en: "the script's input has fixed sizes: the figures are those of the script, whatever micro-batch is asked for",
    "zh-cn": "脚本的输入大小固定：无论要求多大的微批次，数字都是脚本自身的",
  },
  defaultType: {
    en: "the script changes the type that new tensors have; the figures are those of float32",
    "zh-cn": "脚本改变了新建张量的默认类型；数字按 float32 计算",
  },
  changedLater: {
    en: "gradients are turned on or parameters added here in later passes only, which need more than the step that is counted",
    "zh-cn": "这里只在之后的轮次中开启梯度或加入参数，那些轮次需要的显存多于所计算的训练步",
  },
  otherLoops: {
    en: "the script has further training loops, such as this one: what they need is not counted",
    "zh-cn": "脚本还有其他训练循环，例如此处：未计入它们所需的显存",
  },
  loopNotFollowed: {
    en: "the training loop is not followed to its end ({reason}): what it holds besides this model is not counted",
    "zh-cn": "未能将训练循环跟踪到底（{reason}）：未计入其中除该模型以外的内容",
  },
  otherType: {
    en: "a type of weights that the script does not say is not followed through its loop",
    "zh-cn": "脚本中未写明的权重类型不会在其循环中跟踪",
  },
  otherModel: {
    en: "`{name}` is a model that is not known, and in none of the figures: {reason}",
    "zh-cn": "`{name}` 是未知的模型，未计入任何数字：{reason}",
  },
  buckets: {
    en: "DistributedDataParallel keeps the gradients a second time in its buckets, which are counted from two devices on. The header can say how many there are: `# vram: devices=2`",
    "zh-cn":
      "DistributedDataParallel 在其桶中另存一份梯度，两个及以上设备时才会计入。可在头部注释中写明设备数：`# vram: devices=2`",
  },
  neverSteps: {
    en: "the iterations that were followed do not reach the step of this optimizer: its state is not counted",
    "zh-cn": "所跟踪的迭代没有到达这个优化器的 step：未计入其状态",
  },
  unstepped: {
    en: "no optimizer is given some of the weights that can be trained: gradients that they may get are not counted",
    "zh-cn": "部分可训练的权重没有交给任何优化器：未计入它们可能得到的梯度",
  },
  growsIn: {
    en: "`{name}` keeps {size} more with each iteration of this loop: the peak is that of iteration {count}, later ones are higher",
    "zh-cn": "`{name}` 在该循环的每次迭代中多保留 {size}：此峰值是第 {count} 次迭代的，之后的更高",
  },
  grows: {
    en: "each iteration of this loop leaves {size} more on the GPU than the one before: the peak is that of iteration {count}, later ones are higher",
    "zh-cn": "该循环的每次迭代都比前一次在 GPU 上多留下 {size}：此峰值是第 {count} 次迭代的，之后的更高",
  },
  noBackward: {
    en: "the training loop does not reach a backward that is understood",
    "zh-cn": "训练循环未到达可以理解的 backward",
  },
  optimizer: { en: "optimizer `{name}` is not known", "zh-cn": "无法得知优化器 `{name}`" },
  noOptimizer: { en: "optimizer state: optimizer unknown", "zh-cn": "优化器状态：优化器未知" },
  internal: {
    en: "vramlint could not follow the code here ({error})",
    "zh-cn": "vramlint 无法跟踪此处的代码（{error}）",
  },
  noOutput: { en: "no tensor of the output needs a gradient", "zh-cn": "输出中没有需要梯度的张量" },
  argumentsNeeded: {
    en: "`{name}` cannot be built: argument `{parameter}` has no default",
    "zh-cn": "无法构建 `{name}`：参数 `{parameter}` 没有默认值",
  },
} satisfies Record<string, MessageText>;

export type UnknownReason = keyof typeof unknownReasons;

/** What would make a step fit. */
export const fitTexts = {
  batch: {
    en: "micro-batch {batch} with {accumulate} accumulation steps",
    "zh-cn": "微批次 {batch}，累积 {accumulate} 次",
  },
  precision: { en: "mixed precision (amp-bf16)", "zh-cn": "混合精度（amp-bf16）" },
  checkpoint: { en: "checkpointing of the repeated blocks", "zh-cn": "对重复的模块使用激活检查点" },
  optimizer: { en: "optimizer {name}", "zh-cn": "优化器 {name}" },
  shard: { en: "FSDP over {devices} devices", "zh-cn": "在 {devices} 个设备上使用 FSDP" },
  zero: {
    en: "the optimizer state shared out over {devices} devices (ZeroRedundancyOptimizer)",
    "zh-cn": "将优化器状态分到 {devices} 个设备（ZeroRedundancyOptimizer）",
  },
  offload: {
    en: "the optimizer offloaded to the host ({host} of its memory a device)",
    "zh-cn": "将优化器卸载到主机（每个设备占用主机内存 {host}）",
  },
} satisfies Record<string, MessageText>;
