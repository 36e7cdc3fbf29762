/** Texts about files: what could not be read, found or written, and what to do about it. */
import type { MessageText } from "./message";

export const workspaceMessages = {
  missing: {
    en: "{path}: there is no such file or folder. Check the spelling and the folder the command runs in.",
    "zh-cn": "{path}：文件或文件夹不存在。请检查拼写以及命令所在的目录。",
  },
  danglingLink: {
    en: "{path}: this link leads to a file that does not exist. Remove the link or restore its target.",
    "zh-cn": "{path}：该链接指向的文件不存在。请删除链接或恢复其目标。",
  },
  nameNotUtf8: {
    en: "{path}: a name that is not valid UTF-8 cannot be opened. Rename the file or folder.",
    "zh-cn": "{path}：名称不是有效的 UTF-8，无法打开。请重命名该文件或文件夹。",
  },
  noMatch: {
    en: "{path}: no Python file matches this pattern.",
    "zh-cn": "{path}：没有与该模式匹配的 Python 文件。",
  },
  denied: {
    en: "{path}: reading is not permitted. Change its permissions or leave it out.",
    "zh-cn": "{path}：没有读取权限。请修改权限，或不要检查该文件。",
  },
  isDirectory: {
    en: "{path}: this is a folder, a file is needed.",
    "zh-cn": "{path}：这是文件夹，此处需要文件。",
  },
  notAFile: {
    en: "{path}: this is neither a regular file nor a folder.",
    "zh-cn": "{path}：既不是普通文件，也不是文件夹。",
  },
  unreadable: {
    en: "{path}: cannot be read ({code}).",
    "zh-cn": "{path}：无法读取（{code}）。",
  },
  tooLarge: {
    en: "{path}: not checked, {size} is over the limit of {limit} for one file.",
    "zh-cn": "{path}：未检查，文件大小 {size} 超过单个文件的上限 {limit}。",
  },
  notUtf8: {
    en: "{path}: not valid UTF-8 at byte {offset}, and no coding comment names another encoding; Python refuses it too. Save it as UTF-8, or add a first line such as `# -*- coding: latin-1 -*-`.",
    "zh-cn":
      "{path}：第 {offset} 字节处不是有效的 UTF-8，且没有声明其他编码的注释；Python 同样会拒绝该文件。请另存为 UTF-8，或在首行添加 `# -*- coding: gbk -*-` 之类的声明。",
  },
  notInEncoding: {
    en: "{path}: the text is not valid {encoding}, which its coding comment names. Correct the comment or save the file as UTF-8.",
    "zh-cn": "{path}：内容不是其编码声明所写的 {encoding}。请修正声明，或另存为 UTF-8。",
  },
  unknownEncoding: {
    en: "{path}: the encoding {encoding} of its coding comment is not known. Save the file as UTF-8.",
    "zh-cn": "{path}：无法识别编码声明中的 {encoding}。请另存为 UTF-8。",
  },
  utf16: {
    en: "{path}: this is UTF-16, which Python does not read. Save it as UTF-8.",
    "zh-cn": "{path}：这是 UTF-16 文件，Python 无法读取。请另存为 UTF-8。",
  },
  nulByte: {
    en: "{path}: contains a NUL byte at {offset} and is no Python source. Leave it out or restore the file.",
    "zh-cn": "{path}：在第 {offset} 字节处含有 NUL 字节，不是 Python 源文件。请排除或恢复该文件。",
  },
  changedMeanwhile: {
    en: "{path}: changed while it was being checked; nothing was written. Run the command again.",
    "zh-cn": "{path}：检查期间文件已被修改，未写入任何内容。请重新运行命令。",
  },
  cannotEncode: {
    en: "{path}: the text cannot be written in its encoding {encoding}; nothing was written. Save the file as UTF-8 first.",
    "zh-cn": "{path}：无法以其编码 {encoding} 写入，未写入任何内容。请先将文件另存为 UTF-8。",
  },
  notWritable: {
    en: "{path}: cannot be written ({code}); the file is as it was.",
    "zh-cn": "{path}：无法写入（{code}），文件未改动。",
  },
  notebookNotJson: {
    en: "{path}: this notebook is not valid JSON ({detail}). Restore it, or resolve a merge conflict in it.",
    "zh-cn": "{path}：该 Notebook 不是有效的 JSON（{detail}）。请恢复文件，或解决其中的合并冲突。",
  },
  notANotebook: {
    en: "{path}: this is no Jupyter notebook: it has no list of cells.",
    "zh-cn": "{path}：这不是 Jupyter Notebook：其中没有单元格列表。",
  },
  notebookTooOld: {
    en: "{path}: this notebook has a format before version 4. Convert it with `jupyter nbconvert --to notebook`.",
    "zh-cn": "{path}：该 Notebook 的格式早于第 4 版。请用 `jupyter nbconvert --to notebook` 转换。",
  },
  notebookCell: {
    en: "{path}: cell {number} of this notebook has no readable source.",
    "zh-cn": "{path}：该 Notebook 的第 {number} 个单元格没有可读取的源代码。",
  },
  notebookTooLarge: {
    en: "{path}: not checked, its cells hold {size, number} characters, over the limit of {limit, number} for one file.",
    "zh-cn": "{path}：未检查，单元格共 {size, number} 个字符，超过单个文件的上限 {limit, number}。",
  },
  notebookLanguage: {
    en: "{path}: not checked, the notebook''s language is {language}, not Python.",
    "zh-cn": "{path}：未检查，该 Notebook 的语言是 {language}，不是 Python。",
  },
} as const satisfies Record<string, MessageText>;

/** How far a run has come. */
export const workspaceProgress: MessageText = {
  en: "Checking: {done} of {total} files, {percent} %",
  "zh-cn": "正在检查：{done}/{total} 个文件，{percent} %",
};

/** Texts about settings files; the place stands in front of them. */
export const settingsMessages = {
  at: {
    en: "{path}:{line}:{column}: {problem}",
    "zh-cn": "{path}:{line}:{column}：{problem}",
  },
  notToml: {
    en: "This is not valid TOML: {detail}.",
    "zh-cn": "不是有效的 TOML：{detail}。",
  },
  unreadable: {
    en: "The file cannot be read ({code}).",
    "zh-cn": "无法读取该文件（{code}）。",
  },
  unknownKey: {
    en: "There is no setting `{name}`; known are {choices}.",
    "zh-cn": "没有名为 `{name}` 的设置；可用的设置有：{choices}。",
  },
  unknownKeyNearest: {
    en: "There is no setting `{name}`; `{nearest}` is probably meant.",
    "zh-cn": "没有名为 `{name}` 的设置；可能是指 `{nearest}`。",
  },
  unknownRule: {
    en: "There is no rule or group `{name}`.{hint}",
    "zh-cn": "没有名为 `{name}` 的规则或规则组。{hint}",
  },
  badChoice: {
    en: "`{value}` is not possible for `{name}`: it can be {choices}.{hint}",
    "zh-cn": "`{name}` 不能取值 `{value}`；可选值：{choices}。{hint}",
  },
  notAString: {
    en: "`{name}` must be a text in quotes.",
    "zh-cn": "`{name}` 必须是带引号的文本。",
  },
  notAList: {
    en: '`{name}` must be a list of texts in quotes, such as ["…", "…"].',
    "zh-cn": '`{name}` 必须是由带引号的文本组成的列表，例如 ["…", "…"]。',
  },
  notATable: {
    en: "`{name}` must be a table.",
    "zh-cn": "`{name}` 必须是表。",
  },
  badPattern: {
    en: "`{pattern}` is no pattern for paths below the folder of this file: it must not be empty, begin with `!`, lead out of the folder or leave a bracket open (a bracket that is part of a name is written `[[]`).",
    "zh-cn":
      "`{pattern}` 不是针对本文件所在目录内路径的模式：不能为空，不能以 `!` 开头，不能指向目录之外，括号必须闭合（名称中的 `[` 写作 `[[]`）。",
  },
  badDevice: {
    en: "`{value}` is neither a size such as `24GiB` nor a known card.{hint}",
    "zh-cn": "`{value}` 既不是 `24GiB` 之类的大小，也不是已知的显卡。{hint}",
  },
  badBudget: {
    en: "`{value}` is no size; write it with its unit, such as `6.5GiB`.",
    "zh-cn": "`{value}` 不是大小；请连同单位书写，例如 `6.5GiB`。",
  },
  nearest: {
    en: " `{nearest}` is probably meant.",
    "zh-cn": "可能是指 `{nearest}`。",
  },
  noHint: { en: "", "zh-cn": "" },
} as const satisfies Record<string, MessageText>;
