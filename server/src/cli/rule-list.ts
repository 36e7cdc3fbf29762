/** Rules and groups as the command line names them. */
import { catalogue, catalogueGroups } from "../analysis";
import { nearest } from "../directives/nearest";
import { usageMessages } from "../messages/cli";
import { message } from "../messages/message";
import type { Message } from "../messages/message";
import { printable } from "../workspace/problem";

/** Names, groups and `all` of `--select a,b --select c`. */
export function selectors(values: readonly string[]): string[] {
  return values
    .flatMap((value) => value.split(","))
    .map((value) => value.trim().toLowerCase())
    .filter((value) => value !== "");
}

/** What is wrong with the first selector that names nothing; `undefined` when all do. */
export function selectorMistake(chosen: readonly string[]): Message | undefined {
  const known = ["all", ...Object.keys(catalogueGroups), ...catalogue.map(({ name }) => name)];
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
