/** All rules as the command line names them, those of the `# vram:` comments included. */
import { directiveGroupTitles, directiveRules } from "../directives/catalogue";
import { nearest } from "../directives/nearest";
import { usageMessages } from "../messages/cli";
import { message } from "../messages/message";
import type { Message, MessageText } from "../messages/message";
import { groupTitles } from "../rules/groups";
import { rules } from "../rules/registry";
import type { Level } from "../rules/rule";
import { printable } from "../workspace/problem";

export interface ListedRule {
  readonly name: string;
  readonly group: string;
  readonly level: Level;
  readonly summary: MessageText;
}

/** In the order of the registry, the `# vram:` comments' own rules last. */
export const listedRules: readonly ListedRule[] = [
  ...rules.map(({ name, group, level, summary }) => ({ name, group, level, summary })),
  ...directiveRules,
];

export const listedGroups: ReadonlyMap<string, MessageText> = new Map(
  Object.entries({ ...groupTitles, ...directiveGroupTitles }),
);

/** Names, groups and `all` of `--select a,b --select c`. */
export function selectors(values: readonly string[]): string[] {
  return values
    .flatMap((value) => value.split(","))
    .map((value) => value.trim().toLowerCase())
    .filter((value) => value !== "");
}

/** What is wrong with the first selector that names nothing; `undefined` when all do. */
export function selectorMistake(chosen: readonly string[]): Message | undefined {
  const known = ["all", ...listedGroups.keys(), ...listedRules.map(({ name }) => name)];
  const unknown = chosen.find((selector) => !known.includes(selector));
  if (unknown === undefined) return undefined;
  return message(usageMessages.unknownRule, { name: printable(unknown), hint: hintFor(unknown, known) });
}

/** "Did you mean", or where to find all. */
export function hintFor(name: string, known: readonly string[]): Message {
  const near = nearest(name.replaceAll("_", "-"), known);
  if (near !== undefined) return message(usageMessages.didYouMean, { nearest: near });
  return message({ en: " {text}", "zh-cn": "{text}" }, { text: message(usageMessages.listRules) });
}
