/** Numbers along the axes and on the controls. Pure. */
import { formatBytes } from "../../server/src/memory/units";

const KiB = 1024;
const units = [1, KiB, KiB ** 2, KiB ** 3, KiB ** 4];
/** Steps of a scale in its unit: people halve and double gibibytes, they do not count them in tens. */
const steps = [1, 2, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128, 200, 256, 512];
const fractions = [0.1, 0.2, 0.25, 0.5];

export interface Tick {
  readonly bytes: number;
  readonly label: string;
}

/** Ticks from 0 up to `most` bytes, about as many as asked, at round figures of one binary unit. */
export function byteTicks(most: number, about: number): Tick[] {
  const unit = units.findLast((size) => most >= size) ?? 1;
  const inUnit = most / unit;
  const candidates = unit === 1 ? steps : [...fractions, ...steps];
  const step = candidates.find((candidate) => inUnit / candidate <= about) ?? 512;
  const ticks: Tick[] = [];
  for (let i = 0; i * step <= inUnit; i++)
    ticks.push({ bytes: i * step * unit, label: tickLabel(i * step, unit) });
  return ticks;
}

/** `0`, `1.5 GiB`: without the zeros of a figure in a sentence. */
function tickLabel(count: number, unit: number): string {
  if (count === 0) return "0";
  return formatBytes(count * unit)
    .replace(/(\.\d*?)0+(?= )/, "$1")
    .replace(/\.(?= )/, "");
}

/** The highest value that the vertical axis has to reach: limits far above the step are left out and said in words. */
export function axisTop(peaks: readonly number[], limits: readonly number[]): number {
  const peak = Math.max(1, ...peaks);
  const near = limits.filter((limit) => limit <= peak * 1.9);
  return Math.max(peak, ...near) * 1.12;
}

/** Micro-batches for a slider: powers of two and one and a half times those around the present one, which is among them. */
export function batchChoices(present: number): number[] {
  const most = Math.max(64, 8 * present);
  const found = new Set([present]);
  for (let power = 1; power <= most; power *= 2) {
    found.add(power);
    if (power > 1 && power * 1.5 <= most) found.add(power * 1.5);
  }
  return [...found].sort((a, b) => a - b);
}

/** `41 %`; below one per cent with a decimal. */
export function percent(share: number, language: string): string {
  const digits = share > 0 && share < 0.01 ? 1 : 0;
  const figure = (100 * share).toLocaleString(language, { maximumFractionDigits: digits });
  return `${figure} %`;
}

/** The change between two figures: `−41 %`, `+12 %`, `±0 %`; undefined from nothing. */
export function changeText(before: number, after: number, language: string): string | undefined {
  if (before === 0) return undefined;
  const share = Math.abs(after - before) / before;
  const sign = after === before ? "±" : after < before ? "−" : "+";
  return sign + percent(share, language);
}

/** A text with `{0}`, `{1}` filled in. */
export function fill(text: string, ...values: readonly (string | number)[]): string {
  return text.replaceAll(/\{(\d+)\}/g, (whole, index: string) => String(values[Number(index)] ?? whole));
}
