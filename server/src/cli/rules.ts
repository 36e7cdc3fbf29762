/** `vramlint rules` and `vramlint rule NAME`. */
import { catalogue, catalogueGroups } from "../analysis";
import { reportMessages, usageMessages as texts } from "../messages/cli";
import { message } from "../messages/message";
import { printable } from "../workspace/problem";
import { readRulePage } from "../workspace/rule-pages";
import { exitCodes } from "./io";
import { padTo } from "./report/frame";
import type { Terminal } from "./reporter";
import { hintFor } from "./rule-list";

export function printRules(format: "text" | "json", terminal: Terminal): number {
  const { io, language, colors } = terminal;
  if (format === "json") {
    const list = catalogue.map(({ name, group, level, summary }) => ({
      name,
      group,
      level,
      summary: summary[language],
    }));
    io.stdout.write(`${JSON.stringify({ rules: list }, undefined, 2)}\n`);
    return exitCodes.clean;
  }
  const nameWidth = Math.max(0, ...catalogue.map(({ name }) => name.length));
  for (const [group, title] of Object.entries(catalogueGroups)) {
    const members = catalogue.filter((rule) => rule.group === group);
    if (members.length === 0) continue;
    io.stdout.write(`${colors.bold(title[language])} (${group})\n`);
    for (const { name, level, summary } of members) {
      const shownLevel = padTo(terminal.text(message(reportMessages[level])), levelWidth);
      io.stdout.write(`  ${padTo(name, nameWidth)}  ${shownLevel}  ${summary[language]}\n`);
    }
  }
  return exitCodes.clean;
}

/** As wide as the longest name of a level. */
const levelWidth = "information".length;

export async function printRule(name: string, terminal: Terminal): Promise<number> {
  const wanted = name.toLowerCase();
  const rule = catalogue.find((candidate) => candidate.name === wanted);
  if (rule === undefined) {
    const known = catalogue.map((candidate) => candidate.name);
    const values = { name: printable(name), hint: hintFor(name, known) };
    terminal.complain(message(texts.unknownRuleOnly, values));
    return exitCodes.failure;
  }
  const page = await readRulePage(rule.name, terminal.language);
  if (page === undefined) {
    const values = { rule: rule.name, summary: message(rule.summary) };
    terminal.complain(message(texts.noPage, values));
    return exitCodes.failure;
  }
  terminal.io.stdout.write(page.endsWith("\n") ? page : `${page}\n`);
  return exitCodes.clean;
}
