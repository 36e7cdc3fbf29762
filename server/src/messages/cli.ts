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
  level: {
    en: "give a rule, a group or all another level: error, warning, information, hint or off; several separated by commas, a later one wins",
    "zh-cn":
      "更改规则、规则组或全部规则（all）的级别：error、warning、information、hint 或 off；以逗号分隔，后者优先",
  },
  failOn: {
    en: "exit with 1 only for findings of this level or a more serious one",
    "zh-cn": "仅当存在该级别或更严重的问题时才以 1 退出",
  },
  exitZero: {
    en: "exit with 0 in spite of findings; errors still give 2",
    "zh-cn": "即使发现问题也以 0 退出；出错时仍为 2",
  },
  model: {
    en: "which model, and how to build it, such as 'Net(width=64)', instead of the header's or the script's",
    "zh-cn": "模型及其构建方式，例如 'Net(width=64)'，代替注释或脚本中的值",
  },
  args: {
    en: "the command line that starts the script, in one word, such as '--width 64 --amp', instead of the header's",
    "zh-cn": "启动脚本的命令行，写成一个参数，例如 '--width 64 --amp'，代替注释中的值",
  },
  estimateExitZero: {
    en: "exit with 0 where the step is over the budget or the device too; errors still give 2",
    "zh-cn": "即使训练步超出显存预算或设备显存也以 0 退出；出错时仍为 2",
  },
  estimateExitCodes: {
    en: "Exit code: 0 it fits, or there is no verdict; 1 it is over the budget or the device; 2 wrong use, or nothing could be estimated.",
    "zh-cn": "退出码：0 可以容纳，或无法判断；1 超出显存预算或设备显存；2 用法错误，或没有可估算的内容。",
  },
  unsafeFixes: {
    en: "with --fix, apply the fixes marked (review) too: look at the result before you keep it",
    "zh-cn": "与 --fix 一起使用，同时应用标有（需复核）的修复；保留结果前请先检查",
  },
  diff: {
    en: "report only findings on lines changed since the commit where HEAD left REF, a branch, tag or commit of git",
    "zh-cn": "只报告自 HEAD 从 REF（git 的分支、标签或提交）分出后改动过的行",
  },
  baseline: {
    en: "leave out the findings that this file knows",
    "zh-cn": "不报告此基线文件中已记录的问题",
  },
  writeBaseline: {
    en: "record everything found now in the file of --baseline, and make it where there is none",
    "zh-cn": "把当前发现的所有问题记录到 --baseline 指定的文件，文件不存在时新建",
  },
  prune: {
    en: "take what is found no longer out of the file of --baseline",
    "zh-cn": "从 --baseline 指定的文件中删除已不存在的问题",
  },
  statistics: {
    en: "count the findings of each rule instead of showing them; for text and json",
    "zh-cn": "按规则统计数量，不逐条显示；适用于 text 和 json",
  },
  forceExclude: {
    en: "leave out what the settings exclude also where it is named itself",
    "zh-cn": "即使明确指定了被配置文件排除的文件，也不检查",
  },
  maxFileSize: {
    en: "files larger than this are not checked, such as 2MiB (default: 1MiB)",
    "zh-cn": "不检查超过此大小的文件，例如 2MiB（默认：1MiB）",
  },
  python: {
    en: "interpreter or environment whose installed packages, such as torchvision, make the model",
    "zh-cn": "解释器或环境；由其中已安装的包（如 torchvision）构建模型",
  },
  budget: {
    en: "memory that the training may use, such as 6.5GiB, instead of the header's",
    "zh-cn": "训练可用的显存，例如 6.5GiB，代替注释中的值",
  },
  device: {
    en: "memory or name of the card, such as 24GiB or rtx-4090, instead of the header's",
    "zh-cn": "显卡的显存或名称，例如 24GiB 或 rtx-4090，代替注释中的值",
  },
  batch: {
    en: "micro-batch, instead of the header's or the script's",
    "zh-cn": "微批次，代替注释或脚本中的值",
  },
  stdinFilename: {
    en: "what reports call the text from standard input",
    "zh-cn": "报告中用于标准输入文本的文件名",
  },
  estimate: { en: "print what the models of a file need", "zh-cn": "显示文件中各模型所需的显存" },
  estimateFile: {
    en: "a Python file or a notebook; - reads standard input",
    "zh-cn": "Python 文件或 Notebook；- 表示读取标准输入",
  },
  format: { en: "form of the output", "zh-cn": "输出格式" },
  lsp: {
    en: "start the language server, for an editor to talk to on standard input and output",
    "zh-cn": "启动语言服务器，供编辑器通过标准输入和标准输出使用",
  },
  stdio: { en: "the only way there is; editors name it", "zh-cn": "唯一的通信方式；编辑器常会写明" },
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
    en: "{name} cannot be {value}; choose {choices}.{hint}",
    "zh-cn": "{name} 不能是 {value}；可选值：{choices}。{hint}",
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
  needs: {
    en: "{option} works only together with {other}.",
    "zh-cn": "{option} 必须与 {other} 一起使用。",
  },
  apart: {
    en: "{option} and {other} cannot be combined.",
    "zh-cn": "{option} 不能与 {other} 同时使用。",
  },
  levelForm: {
    en: "--level takes RULE=LEVEL, such as empty-cache-in-loop=error, not {value}.",
    "zh-cn": "--level 的形式为 RULE=LEVEL，例如 empty-cache-in-loop=error，而不是 {value}。",
  },
  badSize: {
    en: "{option} cannot be {value}; give a size such as 512KiB or 2MiB, at most {largest}.",
    "zh-cn": "{option} 不能是 {value}；请给出 512KiB 或 2MiB 这样的大小，最大 {largest}。",
  },
  badSetting: {
    en: "{option}: {reason}",
    "zh-cn": "{option}：{reason}",
  },
  notASetting: {
    en: "{option} cannot be {value}; give one value.",
    "zh-cn": "{option} 不能是 {value}；请只给出一个值。",
  },
  noGit: {
    en: "--diff needs git, which is not installed or not on the PATH.",
    "zh-cn": "--diff 需要 git，但未安装或不在 PATH 中。",
  },
  notARepository: {
    en: "--diff: {folder} is not inside a git repository. Run the command in one, or leave --diff out.",
    "zh-cn": "--diff：{folder} 不在 git 仓库中。请在仓库内运行，或去掉 --diff。",
  },
  dubiousOwnership: {
    en: "--diff: git refuses the repository around {folder} because somebody else owns it. Allow it with git config --global --add safe.directory FOLDER.",
    "zh-cn":
      "--diff：{folder} 所在仓库属于其他用户，git 拒绝访问。可用 git config --global --add safe.directory FOLDER 允许。",
  },
  noSuchRef: {
    en: "--diff: git knows no commit {ref} here. Check the spelling; in CI fetch it first (git fetch origin BRANCH, or a checkout with its whole history).",
    "zh-cn":
      "--diff：git 在此处找不到提交 {ref}。请检查拼写；在 CI 中请先获取它（git fetch origin BRANCH，或检出完整历史）。",
  },
  noCommonCommit: {
    en: "--diff: HEAD and {ref} have no commit in common here, so the files are compared with {ref} itself. A checkout with its whole history would tell your changes from its own.",
    "zh-cn":
      "--diff：此处 HEAD 与 {ref} 没有共同的提交，因此直接与 {ref} 比较。检出完整历史才能区分您的改动和对方的改动。",
  },
  submoduleChanged: {
    en: "--diff: {path} is a submodule, and what changed in it was not looked at. Run the check in its folder too.",
    "zh-cn": "--diff：{path} 是子模块，其中的改动没有检查。请在其目录中另行检查。",
  },
  gitFailed: {
    en: "--diff: git failed: {detail}",
    "zh-cn": "--diff：git 出错：{detail}",
  },
  noBaseline: {
    en: "{path}: there is no such baseline. Make it with --baseline {path} --write-baseline.",
    "zh-cn": "{path}：没有这个基线文件。可用 --baseline {path} --write-baseline 创建。",
  },
  baselineUnreadable: {
    en: "{path}: the baseline cannot be read ({code}).",
    "zh-cn": "{path}：无法读取基线文件（{code}）。",
  },
  baselineConflict: {
    en: "{path}: line {line} is a merge conflict marker. Keep the entries of both sides and remove the markers; the same entry twice does no harm.",
    "zh-cn": "{path}：第 {line} 行是合并冲突标记。请保留双方的条目并删除标记；重复的条目没有影响。",
  },
  baselineNotJson: {
    en: "{path}: the baseline is not valid JSON: {detail}. Restore it, or remove it and write it anew with --write-baseline.",
    "zh-cn":
      "{path}：基线文件不是有效的 JSON：{detail}。请恢复该文件，或将其删除后用 --write-baseline 重新生成。",
  },
  notABaseline: {
    en: "{path}: this is not a baseline of vramlint. Name another file.",
    "zh-cn": "{path}：这不是 vramlint 的基线文件。请指定其他文件。",
  },
  baselineVersion: {
    en: "{path}: the baseline has form {version}, this vramlint reads form {known}. Use the vramlint that wrote it, or remove it and write it anew with --write-baseline.",
    "zh-cn":
      "{path}：基线文件的格式版本为 {version}，当前 vramlint 支持 {known}。请使用生成它的版本，或将其删除后用 --write-baseline 重新生成。",
  },
  baselineEntry: {
    en: "{path}: entry {number} of the baseline lacks path, rule, function, statement or occurrence. Correct or remove it.",
    "zh-cn":
      "{path}：基线的第 {number} 个条目缺少 path、rule、function、statement 或 occurrence。请修正或删除。",
  },
  baselineChanged: {
    en: "{path}: the baseline changed during the run; nothing was written. Run the command again.",
    "zh-cn": "{path}：运行期间基线文件已被修改，未写入任何内容。请重新运行命令。",
  },
  baselineNotWritable: {
    en: "{path}: the baseline cannot be written ({code}); it is as it was.",
    "zh-cn": "{path}：无法写入基线文件（{code}），文件未改动。",
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
  summaryNew: {
    en: "{findings, plural, =0 {Nothing new} one {# new finding} other {# new findings}} in {files, plural, one {# file} other {# files}}.",
    "zh-cn": "{files} 个文件，{findings, plural, =0 {没有新问题} other {发现 # 个新问题}}。",
  },
  known: {
    en: "{count, plural, one {# finding is} other {# findings are}} in the baseline.",
    "zh-cn": "{count} 个问题已在基线中。",
  },
  stale: {
    en: "{count, plural, one {# entry of the baseline is found no longer: --prune removes it} other {# entries of the baseline are found no longer: --prune removes them}}.",
    "zh-cn": "基线中有 {count} 个条目已不存在，可用 --prune 删除。",
  },
  baselineWritten: {
    en: "{path}: {added} added, {removed} removed.",
    "zh-cn": "{path}：新增 {added} 个，删除 {removed} 个。",
  },
  noneChanged: {
    en: "{files, plural, one {The Python file has not changed} other {None of the # Python files has changed}}.",
    "zh-cn": "{files} 个 Python 文件均无改动。",
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
  host: { en: "offloaded to the host", "zh-cn": "卸载到主机内存" },
  hostRemark: { en: "host memory for each device", "zh-cn": "每个设备占用的主机内存" },
  saved: { en: "saved for backward", "zh-cn": "为反向保存的激活" },
  perSample: { en: "{bytes} a sample", "zh-cn": "每个样本 {bytes}" },
  peak: { en: "peak of a step", "zh-cn": "一个训练步的峰值" },
  peakAt: { en: "in {phase}, {place}", "zh-cn": "{phase}，{place}" },
  peakIn: { en: "in {phase}", "zh-cn": "{phase}" },
  forward: { en: "forward", "zh-cn": "前向传播" },
  backward: { en: "backward", "zh-cn": "反向传播" },
  step: { en: "the optimizer step", "zh-cn": "优化器更新" },
  allocated: { en: "allocated on CUDA", "zh-cn": "CUDA 已分配" },
  interval: { en: "{least} to {most}", "zh-cn": "{least} 至 {most}" },
  onDevice: {
    en: "on the device: {size}, with {least} to {most} % allocator slack and {contextLeast} to {contextMost} of CUDA context (measured on a T4; larger cards may take more)",
    "zh-cn":
      "设备上：{size}，含分配器余量 {least} 至 {most} % 和 CUDA 上下文 {contextLeast} 至 {contextMost}（数据在 T4 上测得；更大的显卡可能更多）",
  },
  notKnown: { en: "not known", "zh-cn": "未知" },
  atLeast: { en: "at least {bytes}", "zh-cn": "至少 {bytes}" },
  lowerBound: {
    en: "Parts of the step are not known: all figures are lower bounds.",
    "zh-cn": "训练步中尚有未知部分：所有数值均为下界。",
  },
  notUnderstood: { en: "not understood:", "zh-cn": "无法理解：" },
  notEstimated: { en: "not estimated, because:", "zh-cn": "未能估算，原因：" },
  line: { en: "line {line}", "zh-cn": "第 {line} 行" },
  cellLine: { en: "cell {cell}, line {line}", "zh-cn": "第 {cell} 个单元格第 {line} 行" },
  placeReason: { en: "{place}: {reason}", "zh-cn": "{place}：{reason}" },
  assumptions: { en: "assumptions:", "zh-cn": "假设：" },
  option: { en: "option", "zh-cn": "选项" },
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
