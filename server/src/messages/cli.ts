/** Texts of the command line: help, reports, mistakes in its use. */
import type { MessageText } from "./message";

export const helpMessages = {
  program: {
    en: "Finds what fills the GPU's memory in PyTorch training scripts, and estimates what a model needs. Reads the scripts; never runs them.",
    "zh-cn": "查找 PyTorch 训练脚本中占满显存的代码，并估算模型所需的显存。只读取脚本，绝不执行。",
  },
  usage: { en: "Usage:", "zh-cn": "用法：" },
  arguments: { en: "Arguments:", "zh-cn": "参数：" },
  options: { en: "Options:", "zh-cn": "选项：" },
  commands: { en: "Commands:", "zh-cn": "命令：" },
  choices: { en: "choices: {list}", "zh-cn": "可选值：{list}" },
  default: { en: "default: {value}", "zh-cn": "默认：{value}" },
  version: { en: "print the version", "zh-cn": "显示版本号" },
  help: { en: "print this help", "zh-cn": "显示此帮助" },
  helpCommand: { en: "print the help of a command", "zh-cn": "显示某个命令的帮助" },
  lang: {
    en: "language of all output; auto follows LC_ALL, LC_MESSAGES and LANG",
    "zh-cn": "输出语言；auto 依次参考 LC_ALL、LC_MESSAGES 和 LANG",
  },
  check: { en: "report what will fill the GPU's memory", "zh-cn": "报告会占满显存的代码" },
  checkPaths: {
    en: "files, folders or patterns; - reads standard input; the current folder when absent",
    "zh-cn": "文件、文件夹或通配模式；- 表示读取标准输入；省略时检查当前文件夹",
  },
  checkFormat: {
    en: "form of the report; in json, lines and columns count from 1, columns in UTF-16 units",
    "zh-cn": "报告格式；json 中行号和列号从 1 开始，列号以 UTF-16 单元计",
  },
  fix: {
    en: "apply the safe fixes; with -, the fixed text goes to standard output and the report to standard error",
    "zh-cn": "应用安全的修复；与 - 一起使用时，修复后的文本写到标准输出，报告写到标准错误",
  },
  select: {
    en: "run only these rules or groups, separated by commas; all for every rule",
    "zh-cn": "只运行这些规则或规则组，以逗号分隔；all 表示全部规则",
  },
  ignore: {
    en: "leave these rules or groups out, separated by commas",
    "zh-cn": "不运行这些规则或规则组，以逗号分隔",
  },
  stdinFilename: {
    en: "what reports call the text from standard input",
    "zh-cn": "报告中用于标准输入文本的文件名",
  },
  estimate: { en: "print what the models of a file need", "zh-cn": "显示文件中各模型所需的显存" },
  estimateFile: {
    en: "a Python file; - reads standard input",
    "zh-cn": "Python 文件；- 表示读取标准输入",
  },
  format: { en: "form of the output", "zh-cn": "输出格式" },
  rules: { en: "list all rules", "zh-cn": "列出所有规则" },
  rule: { en: "print a rule's page", "zh-cn": "显示某条规则的说明" },
  ruleName: { en: "the rule's name", "zh-cn": "规则名" },
  exitCodes: {
    en: "Exit code: 0 nothing found, 1 something found, 2 wrong use or something could not be checked.",
    "zh-cn": "退出码：0 没有发现问题，1 发现问题，2 用法错误或有内容无法检查。",
  },
} as const satisfies Record<string, MessageText>;

export const usageMessages = {
  unknownOption: {
    en: "there is no option {name}.{hint}",
    "zh-cn": "没有选项 {name}。{hint}",
  },
  unknownCommand: {
    en: "there is no command {name}.{hint}",
    "zh-cn": "没有命令 {name}。{hint}",
  },
  missingArgument: {
    en: "{name} is missing.",
    "zh-cn": "缺少参数 {name}。",
  },
  optionMissingArgument: {
    en: "{name} needs a value.",
    "zh-cn": "{name} 需要一个值。",
  },
  excessArguments: {
    en: "{name} takes {expected, plural, =0 {no arguments} one {one argument} other {# arguments}}, not {received}.",
    "zh-cn": "{name} 需要 {expected} 个参数，而不是 {received} 个。",
  },
  invalidValue: {
    en: "{name} cannot be {value}; choose {choices}.",
    "zh-cn": "{name} 不能是 {value}；可选值：{choices}。",
  },
  didYouMean: { en: " Did you mean {nearest}?", "zh-cn": "您是否想用 {nearest}？" },
  noHint: { en: "", "zh-cn": "" },
  seeHelp: { en: "See vramlint {command}--help.", "zh-cn": "参见 vramlint {command}--help。" },
  unknownRule: {
    en: "there is no rule or group {name}.{hint}",
    "zh-cn": "没有名为 {name} 的规则或规则组。{hint}",
  },
  unknownRuleOnly: {
    en: "there is no rule {name}.{hint}",
    "zh-cn": "没有名为 {name} 的规则。{hint}",
  },
  listRules: { en: "vramlint rules lists them.", "zh-cn": "用 vramlint rules 查看全部规则。" },
  stdinAlone: {
    en: "- stands for standard input and cannot be combined with other paths.",
    "zh-cn": "- 表示标准输入，不能与其他路径同时使用。",
  },
  internal: {
    en: "{path}: an error inside vramlint, the file is not checked. Please report it: {detail}",
    "zh-cn": "{path}：vramlint 内部错误，该文件未检查。请报告此问题：{detail}",
  },
  ruleFailed: {
    en: "{path}: an error inside the rule {rule}, its findings are missing. Please report it: {detail}",
    "zh-cn": "{path}：规则 {rule} 内部错误，缺少它的结果。请报告此问题：{detail}",
  },
  unexpected: {
    en: "an error inside vramlint. Please report it: {detail}",
    "zh-cn": "vramlint 内部错误。请报告此问题：{detail}",
  },
  noPage: {
    en: "{rule} has no page in this installation; its summary: {summary}",
    "zh-cn": "此安装中没有 {rule} 的说明；概要：{summary}",
  },
} as const satisfies Record<string, MessageText>;

export const reportMessages = {
  error: { en: "error", "zh-cn": "错误" },
  warning: { en: "warning", "zh-cn": "警告" },
  information: { en: "information", "zh-cn": "信息" },
  hint: { en: "hint", "zh-cn": "提示" },
  fix: { en: "fix: {title}", "zh-cn": "修复：{title}" },
  summary: {
    en: "{findings, plural, =0 {Nothing found} one {# finding} other {# findings}} in {files, plural, one {# file} other {# files}}.",
    "zh-cn": "{files} 个文件，{findings, plural, =0 {没有发现问题} other {发现 # 个问题}}。",
  },
  noFiles: {
    en: "No Python file found.",
    "zh-cn": "没有找到 Python 文件。",
  },
  fixable: {
    en: "{count, plural, one {# has a safe fix} other {# have safe fixes}}: --fix applies {count, plural, one {it} other {them}}.",
    "zh-cn": "其中 {count} 个可用 --fix 安全修复。",
  },
  fixed: {
    en: "{count, plural, one {# fix} other {# fixes}} applied.",
    "zh-cn": "已应用 {count} 处修复。",
  },
} as const satisfies Record<string, MessageText>;

export const estimateMessages = {
  noModel: {
    en: "{path}: no model found. A class derived from nn.Module is needed; a header such as `# vram: model=Net(width=64)` says how to build it.",
    "zh-cn":
      "{path}：没有找到模型。需要继承自 nn.Module 的类；可用 `# vram: model=Net(width=64)` 这样的注释说明如何构建。",
  },
  parameters: { en: "parameters", "zh-cn": "参数" },
  parameterCount: {
    en: "{count}, {trainable} trainable",
    "zh-cn": "{count} 个，其中可训练 {trainable} 个",
  },
  buffers: { en: "buffers", "zh-cn": "缓冲区" },
  gradients: { en: "gradients", "zh-cn": "梯度" },
  optimizer: { en: "optimizer state", "zh-cn": "优化器状态" },
  saved: { en: "saved for backward", "zh-cn": "为反向保存的激活" },
  perSample: { en: "{bytes} a sample", "zh-cn": "每个样本 {bytes}" },
  peak: { en: "peak of a step", "zh-cn": "一个训练步的峰值" },
  peakAt: { en: "in {phase}, line {line}", "zh-cn": "{phase}，第 {line} 行" },
  peakIn: { en: "in {phase}", "zh-cn": "{phase}" },
  forward: { en: "forward", "zh-cn": "前向传播" },
  backward: { en: "backward", "zh-cn": "反向传播" },
  step: { en: "the optimizer step", "zh-cn": "优化器更新" },
  allocated: { en: "allocated on CUDA", "zh-cn": "CUDA 已分配" },
  notKnown: { en: "not known", "zh-cn": "未知" },
  atLeast: { en: "at least {bytes}", "zh-cn": "至少 {bytes}" },
  lowerBound: {
    en: "Parts of the step are not known: all figures are lower bounds.",
    "zh-cn": "训练步中尚有未知部分：所有数值均为下界。",
  },
  notUnderstood: { en: "not understood:", "zh-cn": "无法理解：" },
  lineReason: { en: "line {line}: {reason}", "zh-cn": "第 {line} 行：{reason}" },
  assumptions: { en: "assumptions:", "zh-cn": "假设：" },
  header: { en: "header", "zh-cn": "注释" },
  script: { en: "script", "zh-cn": "脚本" },
  default: { en: "default", "zh-cn": "默认" },
  budget: { en: "budget", "zh-cn": "显存预算" },
  device: { en: "device", "zh-cn": "设备" },
  effectiveBatch: { en: "effective batch", "zh-cn": "有效批大小" },
  fits: { en: "fits: {percent} % used", "zh-cn": "可以容纳：占用 {percent} %" },
  overBudget: { en: "over the budget by {over}", "zh-cn": "超出显存预算 {over}" },
  overDevice: { en: "over the device by {over}", "zh-cn": "超出设备显存 {over}" },
  largestBatch: { en: "largest micro-batch", "zh-cn": "最大的微批次" },
  whatFits: { en: "what would make it fit:", "zh-cn": "怎样才能容纳：" },
  notFits: { en: "{change}: {bytes}, still too much", "zh-cn": "{change}：{bytes}，仍然过大" },
  nowFits: { en: "{change}: {bytes}", "zh-cn": "{change}：{bytes}" },
  measured: { en: "measured peaks", "zh-cn": "实测峰值" },
  measuredLine: {
    en: "{fixed} + {perSample} a sample",
    "zh-cn": "{fixed} + 每个样本 {perSample}",
  },
  predicted: { en: "by that line", "zh-cn": "按该直线" },
  predictedAt: { en: "at micro-batch {batch}", "zh-cn": "微批次为 {batch} 时" },
  largestByLine: { en: "largest by the line", "zh-cn": "按直线的最大微批次" },
  largestMeasured: { en: "largest measured", "zh-cn": "实测的最大微批次" },
  measuredScope: {
    en: "The line holds for this shape, precision and optimizer only.",
    "zh-cn": "该直线只适用于当前的形状、精度和优化器。",
  },
  verdictUnknown: {
    en: "no verdict: the estimate is a lower bound",
    "zh-cn": "无法判断：估算只是下界",
  },
} as const satisfies Record<string, MessageText>;
