/** The options of `vramlint check`, and what they ask for once they are known to make sense. */
import { catalogue } from "../analysis";
import type { AnalysisOptions } from "../analysis";
import { nearest } from "../directives/nearest";
import { formatBytes, parseSize } from "../memory/units";
import { usageMessages as texts } from "../messages/cli";
import { message } from "../messages/message";
import type { Message } from "../messages/message";
import { isSelected } from "../rules/select";
import type { LevelOverrides } from "../rules/select";
import type { Level } from "../rules/rule";
import { printable } from "../workspace/problem";
import type { BaselineOptions } from "./baseline-run";
import type { FixChoice } from "./checked-file";
import { levels } from "./levels";
import type { Format } from "./report/formats";
import { selectorMistake, selectors } from "./rule-list";

export const stdinMark = "-";

export interface CheckOptions {
  readonly format: Format;
  readonly fix: boolean;
  readonly unsafeFixes: boolean;
  readonly select: readonly string[];
  readonly ignore: readonly string[];
  readonly level: readonly string[];
  readonly failOn: Level;
  readonly exitZero: boolean;
  readonly diff: string | undefined;
  readonly baseline: string | undefined;
  readonly writeBaseline: boolean;
  readonly prune: boolean;
  readonly statistics: boolean;
  readonly maxFileSize: string | undefined;
  readonly stdinFilename: string | undefined;
  readonly forceExclude: boolean;
}

export interface CheckPlan {
  readonly analysis: AnalysisOptions;
  /** Which fixes are applied; `undefined` for none. */
  readonly fixes: FixChoice | undefined;
  readonly baseline: BaselineOptions | undefined;
  /** Bytes; files above are not checked. */
  readonly maxFileSize: number | undefined;
}

type OrMistake<Result> = Result | { readonly mistake: Message };

export function planOf(paths: readonly string[], options: CheckOptions): OrMistake<CheckPlan> {
  const select = selectors(options.select);
  const ignore = selectors(options.ignore);
  const mistake = selectorMistake([...select, ...ignore]) ?? misfit(paths, options);
  if (mistake !== undefined) return { mistake };
  const overrides = levelOverrides(options.level);
  if ("mistake" in overrides) return overrides;
  const size =
    options.maxFileSize === undefined ? undefined : readSize("--max-file-size", options.maxFileSize);
  if (typeof size === "object") return size;
  const { baseline: file, writeBaseline: write, prune } = options;
  const hasLevels = Object.keys(overrides.levels).length > 0;
  return {
    analysis: {
      ignore,
      ...(select.length > 0 ? { select } : {}),
      ...(hasLevels ? { levels: overrides.levels } : {}),
    },
    fixes: options.fix ? (options.unsafeFixes ? "all" : "safe") : undefined,
    baseline: file === undefined ? undefined : { file, write, prune },
    maxFileSize: size,
  };
}

/** What two options, or an option and the paths, cannot mean together. */
function misfit(paths: readonly string[], options: CheckOptions): Message | undefined {
  const isStdin = paths.includes(stdinMark);
  if (isStdin && paths.length > 1) return message(texts.stdinAlone);
  const apart = (option: string, other: string): Message => message(texts.apart, { option, other });
  const needs = (option: string, other: string): Message => message(texts.needs, { option, other });
  const checks: readonly (readonly [isWrong: boolean, tell: () => Message])[] = [
    [options.unsafeFixes && !options.fix, () => needs("--unsafe-fixes", "--fix")],
    [
      options.writeBaseline && options.baseline === undefined,
      () => needs("--write-baseline", "--baseline FILE"),
    ],
    [options.prune && options.baseline === undefined, () => needs("--prune", "--baseline FILE")],
    [options.stdinFilename !== undefined && !isStdin, () => needs("--stdin-filename", stdinMark)],
    [options.writeBaseline && options.diff !== undefined, () => apart("--write-baseline", "--diff")],
    [options.prune && options.diff !== undefined, () => apart("--prune", "--diff")],
    [options.writeBaseline && isStdin, () => apart("--write-baseline", stdinMark)],
    [options.prune && isStdin, () => apart("--prune", stdinMark)],
    // Changed lines are those on the disk; the text from standard input may have others.
    [options.diff !== undefined && isStdin, () => apart("--diff", stdinMark)],
    [
      options.statistics && options.format !== "text" && options.format !== "json",
      () => apart("--statistics", `--format ${options.format}`),
    ],
  ];
  return checks.find(([isWrong]) => isWrong)?.[1]();
}

const levelNames = [...levels, "off"] as const;

/** `RULE=LEVEL`, several by commas; a later one wins. */
function levelOverrides(values: readonly string[]): OrMistake<{ readonly levels: LevelOverrides }> {
  const overrides: Record<string, Level | "off"> = {};
  for (const entry of values.flatMap((value) => value.split(",")).filter((value) => value.trim() !== "")) {
    const [, selector = "", wanted = ""] = /^\s*([^=]*?)\s*=\s*(.*?)\s*$/.exec(entry.toLowerCase()) ?? [];
    if (selector === "" || wanted === "") {
      return { mistake: message(texts.levelForm, { value: printable(entry) }) };
    }
    const mistake = selectorMistake([selector]);
    if (mistake !== undefined) return { mistake };
    const level = levelNames.find((name) => name === wanted);
    if (level === undefined) return { mistake: unknownLevel(wanted) };
    for (const rule of catalogue) if (isSelected(rule, [selector])) overrides[rule.name] = level;
  }
  return { levels: overrides };
}

function unknownLevel(wanted: string): Message {
  const near = nearest(wanted, levelNames, { info: "information", note: "information", warn: "warning" });
  const hint = near === undefined ? message(texts.noHint) : message(texts.didYouMean, { nearest: near });
  const values = { name: "--level", value: printable(wanted), choices: levelNames.join(", "), hint };
  return message(texts.invalidValue, values);
}

/** Bytes of a size with or without a unit. */
export function readSize(option: string, value: string): number | { readonly mistake: Message } {
  const bytes = /^\d+$/.test(value.trim()) ? Number(value) : parseSize(value);
  if (bytes !== undefined && bytes > 0 && bytes <= largestFile) return bytes;
  const values = { option, value: printable(value), largest: formatBytes(largestFile) };
  return { mistake: message(texts.badSize, values) };
}

/** A text must fit into a string, and its tree into memory. */
const largestFile = 256 * 1024 * 1024;
