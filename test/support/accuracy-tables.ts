/** The tables of docs/estimates.md and its Chinese twin, from the goldens. */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { formatBytes } from "../../server/src/memory/units";
import type { Language, MessageText } from "../../server/src/messages/message";
import { measureAccuracy, summarise } from "./accuracy";
import type { Accuracy } from "./accuracy";
import { measureGpu } from "./gpu";
import type { GpuRow } from "./gpu";

/** Everything the tables are made of; takes some seconds. The parser must be loaded. */
export interface AccuracyFigures {
  readonly rows: readonly Accuracy[];
  /** A text where a model could not be estimated. */
  readonly card: readonly (GpuRow | string)[];
}

export function accuracyFigures(only?: (file: string) => boolean): AccuracyFigures {
  return { rows: measureAccuracy(only), card: only === undefined ? measureGpu() : [] };
}

/** `0.01` is `1.00%`. */
export function percent(error: number | undefined): string {
  return error === undefined ? "-" : `${(100 * error).toFixed(2)}%`;
}

interface Quantity {
  readonly name: MessageText;
  readonly errors: readonly number[];
}

function quantities(rows: readonly Accuracy[]): Quantity[] {
  const known = rows.filter((row) => row.missing === undefined);
  const defined = (values: readonly (number | undefined)[]): number[] =>
    values.filter((value) => value !== undefined);
  const peaks = (device: string, precision: RegExp): number[] =>
    known
      .filter((row) => row.device === device && precision.test(row.precision))
      .flatMap((row) => Object.values(row.peakErrors));
  const quantity = (en: string, chinese: string, errors: readonly (number | undefined)[]): Quantity => ({
    name: { en, "zh-cn": chinese },
    errors: defined(errors),
  });
  return [
    quantity(
      "parameters",
      "参数",
      known.map((row) => row.parameterError),
    ),
    quantity(
      "saved",
      "激活（为反向保存）",
      known.map((row) => row.savedError),
    ),
    quantity(
      "forward peak",
      "前向峰值",
      known.map((row) => row.forwardError),
    ),
    quantity(
      "backward peak",
      "反向峰值",
      known.map((row) => row.backwardError),
    ),
    quantity("peak, CPU dispatch, fp32", "峰值，CPU 分派，fp32", peaks("cpu", /^fp32$/)),
    quantity("peak, CUDA dispatch, fp32", "峰值，CUDA 分派，fp32", peaks("cuda", /^fp32$/)),
    quantity("peak, CUDA dispatch, AMP", "峰值，CUDA 分派，AMP", peaks("cuda", /^amp/)),
    quantity(
      "peak, CUDA dispatch, pure half precision",
      "峰值，CUDA 分派，纯半精度",
      peaks("cuda", /^(bf16|fp16)$/),
    ),
  ];
}

const headings = {
  errors: {
    en: ["quantity", "runs", "median", "90th percentile", "worst"],
    "zh-cn": ["数量", "运行数", "中位数", "第 90 百分位", "最大"],
  },
  card: {
    en: ["model", "measured", "estimated", "error", "phase"],
    "zh-cn": ["模型", "实测", "估算", "误差", "阶段"],
  },
} as const;

const phases: Readonly<Record<string, MessageText>> = {
  forward: { en: "forward", "zh-cn": "前向" },
  backward: { en: "backward", "zh-cn": "反向" },
  step: { en: "step", "zh-cn": "更新" },
};

function markdown(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(heading), `|${heading.map(() => "---|").join("")}`, ...rows.map(line)].join("\n");
}

/** Sizes of the errors against PyTorch. */
export function errorTable(rows: readonly Accuracy[], language: Language): string {
  return markdown(
    headings.errors[language],
    quantities(rows).map(({ name, errors }) => {
      const { median, p90, worst, count } = summarise(errors);
      return [name[language], String(count), percent(median), percent(p90), percent(worst)];
    }),
  );
}

/** Real peaks of a Tesla T4 beside the estimates. */
export function cardTable(card: AccuracyFigures["card"], language: Language): string {
  return markdown(
    headings.card[language],
    card.map((row) => {
      if (typeof row === "string") return [row, "-", "-", "-", "-"];
      const name = `${row.model} B=${row.batch}${row.sequence === null ? "" : ` T=${row.sequence}`}`;
      const error = percent((row.estimated - row.measured) / row.measured);
      const phase = phases[row.phase]?.[language] ?? row.phase;
      return [name, formatBytes(row.measured), formatBytes(row.estimated), error, phase];
    }),
  );
}

/** The sentence that counts runs and files, as it stands in the pages. */
const counts: Readonly<Record<Language, { readonly sentence: RegExp; readonly text: string }>> = {
  en: {
    sentence: /\d+ runs of \d+ files; \d+ are not estimated/,
    text: "{runs} runs of {files} files; {missing} are not estimated",
  },
  "zh-cn": {
    sentence: /共 \d+ 个文件的 \d+ 次运行；其中 \d+ 次不作估算/,
    text: "共 {files} 个文件的 {runs} 次运行；其中 {missing} 次不作估算",
  },
};

export const accuracyPages: Readonly<Record<Language, string>> = {
  en: path.join(__dirname, "../../docs/estimates.md"),
  "zh-cn": path.join(__dirname, "../../docs/estimates.zh-cn.md"),
};

/** The page as it must be. Throws when it has lost a table or the sentence. */
export function pageWithFigures({ rows, card }: AccuracyFigures, language: Language): string {
  const values: Readonly<Record<string, number>> = {
    runs: rows.length,
    files: new Set(rows.map(({ file }) => file)).size,
    missing: rows.filter(({ missing }) => missing !== undefined).length,
  };
  const { sentence, text } = counts[language];
  const counted = text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
  return [
    { old: tableUnder(headings.errors[language]), now: errorTable(rows, language) },
    { old: tableUnder(headings.card[language]), now: cardTable(card, language) },
    { old: sentence, now: counted },
  ].reduce(
    (page, { old, now }) => {
      if (!old.test(page)) throw new Error(`${accuracyPages[language]} has no ${old.source}`);
      return page.replace(old, () => now);
    },
    readFileSync(accuracyPages[language], "utf8"),
  );
}

function tableUnder(heading: readonly string[]): RegExp {
  return new RegExp(`^\\| ${heading.join(" \\| ")} \\|(?:\\n\\|.*)+`, "m");
}

export function writePages(figures: AccuracyFigures): void {
  for (const language of ["en", "zh-cn"] as const) {
    writeFileSync(accuracyPages[language], pageWithFigures(figures, language));
  }
}
