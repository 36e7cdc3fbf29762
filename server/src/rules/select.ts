/** Which rules run and at which level: names, names of groups, or `all`. */
import type { Level } from "./rule";

/** Overrides of levels by rule name; `off` silences. */
export type LevelOverrides = Readonly<Record<string, Level | "off">>;

/** What selectors can name: a rule with its group. */
export interface Selectable {
  readonly name: string;
  readonly group: string;
}

/** True when one of the selectors names the rule, its group, or all rules. */
export function isSelected(rule: Selectable, selectors: readonly string[]): boolean {
  return selectors.some(
    (selector) => selector === "all" || selector === rule.name || selector === rule.group,
  );
}

/** The selectors that name neither a rule, a group nor `all`. */
export function unknownSelectors(selectors: readonly string[], rules: readonly Selectable[]): string[] {
  return selectors.filter(
    (selector) =>
      selector !== "all" && !rules.some(({ name, group }) => name === selector || group === selector),
  );
}

/** The rules to run: selected (all where nothing is), not ignored, not off. Unknown selectors select nothing. */
export function selectRules<Rule extends Selectable>(
  rules: readonly Rule[],
  options: {
    readonly select?: readonly string[];
    readonly ignore?: readonly string[];
    readonly levels?: LevelOverrides;
  },
): Rule[] {
  return rules.filter(
    (rule) =>
      isSelected(rule, options.select ?? ["all"]) &&
      !isSelected(rule, options.ignore ?? []) &&
      options.levels?.[rule.name] !== "off",
  );
}
