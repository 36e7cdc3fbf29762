/** The rules of this room: they have no folder under `rules/`, but are selected, silenced and explained like the others. */
import { directiveRuleSummaries } from "../messages/directives";
import type { MessageText } from "../messages/message";
import type { Level } from "../rules/rule";

export type DirectiveRuleName = keyof typeof directiveRuleSummaries;
export type DirectiveGroup = "budget" | "suppressions";

export interface DirectiveRule {
  readonly name: DirectiveRuleName;
  readonly group: DirectiveGroup;
  readonly level: Level;
  readonly summary: MessageText;
}

export const directiveGroupTitles: Readonly<Record<DirectiveGroup, MessageText>> = {
  budget: { en: "Budget header", "zh-cn": "显存预算注释" },
  suppressions: { en: "Suppressions", "zh-cn": "忽略注释" },
};

export const directiveRules: readonly DirectiveRule[] = [
  directiveRule("budget-exceeded", "budget", "error"),
  directiveRule("device-exceeded", "budget", "error"),
  directiveRule("budget-invalid", "budget", "warning"),
  directiveRule("budget-disagrees-with-script", "budget", "warning"),
  directiveRule("budget-leaves-no-headroom", "budget", "information"),
  directiveRule("suppression-unused", "suppressions", "information"),
  directiveRule("suppression-unknown-rule", "suppressions", "information"),
];

export function levelOfDirectiveRule(name: DirectiveRuleName): Level {
  return directiveRules.find((rule) => rule.name === name)?.level ?? "warning";
}

function directiveRule(name: DirectiveRuleName, group: DirectiveGroup, level: Level): DirectiveRule {
  return { name, group, level, summary: directiveRuleSummaries[name] };
}
