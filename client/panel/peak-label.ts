/** Where the label of the peak stands and how much of its line of code it shows. Pure. */
import { textWidth } from "./text-width";

export interface LabelTexts {
  /** Its size and phase. */
  readonly first: string;
  /** `line 12: `, or empty. */
  readonly line: string;
  readonly code: string;
}

/** The plot that the label must stay in, in pixels. */
export interface LabelArea {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export interface PeakLabel {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** It stands to the left of the mark. */
  readonly isBefore: boolean;
  /** As much of the code as there is room for. */
  readonly code: string;
}

const height = 38;
/** Between the mark and its label. */
const distance = 16;
const edge = 4;
const longestCode = 44;
const shortestCode = 8;

/** Beside the mark at `x`, `y`, never on it: code that has no room on the wider side is cut. */
export function peakLabel(x: number, y: number, area: LabelArea, texts: LabelTexts): PeakLabel {
  const whole = shortened(texts.code, longestCode);
  const before = x - distance - area.left - edge;
  const after = area.right - x - distance;
  const isBefore = widthOf(texts, whole) > after && before > after;
  const room = isBefore ? before : after;
  let code = whole;
  for (let length = whole.length - 1; length >= shortestCode && widthOf(texts, code) > room; length--)
    code = shortened(texts.code, length);
  const width = widthOf(texts, code);
  const beside = isBefore ? x - distance - width : x + distance;
  return {
    left: Math.max(area.left + edge, Math.min(beside, area.right - width)),
    top: Math.min(Math.max(area.top + edge, y - height / 2), area.bottom - height - edge),
    width,
    height,
    isBefore,
    code,
  };
}

function widthOf({ first, line }: LabelTexts, code: string): number {
  return Math.max(textWidth(first, 12.5), textWidth(line, 11) + textWidth(code, 12)) + 18;
}

function shortened(code: string, length: number): string {
  return code.length <= length ? code : `${code.slice(0, length - 1)}…`;
}
