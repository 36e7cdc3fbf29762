/** What a project's settings file can name, and how its choice of rules and that of a run go together. */
import { catalogue, catalogueGroups } from "../analysis";
import type { AnalysisOptions } from "../analysis";
import { nearest } from "../directives/nearest";
import { deviceNames, findDevice } from "../memory/devices";
import type { Setting, TrainingSetup } from "../memory/setup";
import { parseSize } from "../memory/units";
import type { Level } from "../rules/rule";
import { isSelected } from "../rules/select";
import type { LevelOverrides } from "../rules/select";

/** The words of a settings file. */
export const settingsWords = {
  selectors: ["all", ...Object.keys(catalogueGroups), ...catalogue.map(({ name }) => name)],
  levels: ["error", "warning", "information", "hint"] satisfies Level[],
  cards: deviceNames,
  size: parseSize,
  card: findDevice,
  nearest,
} as const;

export interface RuleChoice {
  readonly select?: readonly string[] | undefined;
  readonly ignore?: readonly string[] | undefined;
  /** By rule, group or `all`; the more specific name wins. */
  readonly levels?: LevelOverrides | undefined;
}

export interface ProjectSettings extends RuleChoice {
  readonly device?: { readonly bytes: number; readonly card: string | undefined };
  readonly budget?: number;
}

/**
 * The rules and levels of one file. What the run says (the command line's options, or the editor's settings) wins over
 * the project's file:
 * - a selection of the run replaces the file's selection, ignored rules and `off`;
 * - rules that either ignores are ignored, but for those that the run gives a level;
 * - levels are looked up rule by rule, in the run first;
 * - rules ignored for this file alone (`here`) are ignored whatever else is said.
 */
export function rulesFor(
  run: RuleChoice,
  project: RuleChoice,
  here: readonly string[],
): Pick<AnalysisOptions, "select" | "levels"> {
  const hasSelection = run.select !== undefined;
  const select: string[] = [];
  const levels: Record<string, Level | "off"> = {};
  for (const rule of catalogue) {
    const own = levelOf(rule, run.levels);
    const fromFile = levelOf(rule, project.levels);
    const level = own ?? (hasSelection && fromFile === "off" ? undefined : fromFile);
    if (level !== undefined) levels[rule.name] = level;
    if (isSelected(rule, here) || isSelected(rule, run.ignore ?? [])) continue;
    const isAsked = own !== undefined && own !== "off";
    const isChosen = hasSelection
      ? isSelected(rule, run.select)
      : isAsked || (isSelected(rule, project.select ?? ["all"]) && !isSelected(rule, project.ignore ?? []));
    if (isChosen) select.push(rule.name);
  }
  return { select, ...(Object.keys(levels).length > 0 ? { levels } : {}) };
}

function levelOf(
  rule: { readonly name: string; readonly group: string },
  levels: LevelOverrides | undefined,
) {
  if (levels === undefined) return undefined;
  return [rule.name, rule.group, "all"].map((name) => levels[name]).find((level) => level !== undefined);
}

/** What headers leave open. */
export function defaultsOf({ device, budget }: ProjectSettings): TrainingSetup {
  const setting = <Value>(value: Value): Setting<Value> => ({ value, from: "default" });
  return {
    ...(device === undefined ? {} : { device: setting(device) }),
    ...(budget === undefined ? {} : { budget: setting(budget) }),
  };
}
