/** `npm run new-rule NAME [GROUP]`: the folder of a new rule and its first fixtures. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { groupTitles } from "../server/src/rules/groups";
import { root } from "./generated";

const [name, group = "graph"] = process.argv.slice(2);

function fail(reason: string): never {
  console.error(reason);
  process.exit(2);
}

if (name === undefined || !/^[a-z]+(-[a-z0-9]+)*$/.test(name)) {
  fail("usage: npm run new-rule NAME [GROUP], NAME in lower case with hyphens");
}
if (!(group in groupTitles)) fail(`no group ${group}; one of ${Object.keys(groupTitles).join(", ")}`);
const folder = path.join(root, "server/src/rules", name);
if (existsSync(folder)) fail(`server/src/rules/${name} exists already`);

const page = (language: "en" | "zh-cn") =>
  language === "en"
    ? `# ${name}\n\nOne line: what it reports.\n\n## What it finds\n\n## Why it matters\n\n## Bad\n\n\`\`\`python\n\`\`\`\n\n## Good\n\n\`\`\`python\n\`\`\`\n\n## Fix\n\n## When it stays quiet\n\n## When to ignore it\n`
    : `# ${name}\n\n一句话说明：它报告什么。\n\n## 检查内容\n\n## 为什么重要\n\n## 错误示例\n\n\`\`\`python\n\`\`\`\n\n## 正确示例\n\n\`\`\`python\n\`\`\`\n\n## 修复\n\n## 何时不报告\n\n## 何时忽略\n`;

const files: Record<string, string> = {
  [`server/src/rules/${name}/rule.ts`]: `/**
 * ${name}: what it reports and why, with the source of any claim about PyTorch.
 */
import { defineRule } from "../rule";

export const rule = defineRule({
  name: "${name}",
  group: "${group}",
  level: "warning",
  summary: { en: "", "zh-cn": "" },
  messages: {
    found: { en: "", "zh-cn": "" },
  },
  create(context) {
    return {
      Call(node) {
        context.report({ at: node, message: "found" });
      },
    };
  },
});
`,
  [`server/src/rules/${name}/doc.md`]: page("en"),
  [`server/src/rules/${name}/doc.zh-cn.md`]: page("zh-cn"),
  [`test-fixtures/rules/${name}/plain.py`]: `import torch\n\nreport_me()  # expect: ${name}\n`,
  [`test-fixtures/rules/${name}/quiet.py`]: "import torch\n",
};

for (const [file, text] of Object.entries(files)) {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
  console.log(`wrote ${file}`);
}
console.log("next: write the rule, then `npm run generate`");
