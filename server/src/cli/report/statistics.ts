/** `--statistics`: how many findings of which rule, instead of the findings. */
import { catalogue } from "../../analysis";
import { reportMessages as texts } from "../../messages/cli";
import { message } from "../../messages/message";
import type { Level } from "../../rules/rule";
import { isFixable } from "../checked-file";
import { levels } from "../levels";
import { padTo } from "./frame";
import type { Report, ReportContext } from "./report";
import { summary } from "./text";

interface Count {
  readonly rule: string;
  /** The most serious one found. */
  level: Level;
  count: number;
  /** How many have a safe fix. */
  fixable: number;
}

/** For people, or as JSON. */
export function statisticsReport(format: "text" | "json", { terminal }: ReportContext): Report {
  const counts = new Map<string, Count>();
  return {
    file(file) {
      for (const finding of file.findings) {
        const { rule, level } = finding;
        const before = counts.get(rule) ?? { rule, level, count: 0, fixable: 0 };
        before.count++;
        if (isFixable(finding, "safe")) before.fixable++;
        if (levels.indexOf(level) < levels.indexOf(before.level)) before.level = level;
        counts.set(rule, before);
      }
      return "";
    },
    end(totals) {
      const sorted = [...counts.values()].sort((a, b) => b.count - a.count || (a.rule < b.rule ? -1 : 1));
      if (format === "json") {
        return `${JSON.stringify({ statistics: sorted, files: totals.files }, undefined, 2)}\n`;
      }
      if (totals.files === 0 && !totals.succeeded) return "";
      const countWidth = Math.max(...sorted.map(({ count }) => String(count).length), 1);
      const ruleWidth = Math.max(...sorted.map(({ rule }) => rule.length), 1);
      const rows = sorted.map(({ rule, level, count }) => {
        const shownLevel = padTo(terminal.text(message(texts[level])), "information".length);
        const summaryText = catalogue.find(({ name }) => name === rule)?.summary[terminal.language] ?? "";
        return `${String(count).padStart(countWidth)}  ${padTo(rule, ruleWidth)}  ${shownLevel}  ${summaryText}\n`;
      });
      return `${rows.join("")}${rows.length > 0 ? "\n" : ""}${summary(totals, terminal)}`;
    },
  };
}
