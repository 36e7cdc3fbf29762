/** From the moments of a step to shapes: where each lies along the step, and how high its bytes pile up. Pure. */
import { stack } from "d3-shape";
import type { MomentBytes, MomentKind } from "../../server/src/memory/moment-bytes";
import type { Moment, StepAnswer } from "../../server/src/lsp/timeline-request";
import { stackedKinds } from "./kinds";

type Phase = Moment["phase"];

const phaseOrder: readonly Phase[] = ["forward", "backward", "step"];

/** A phase's share of the width, from 0 to 1. */
export interface PhaseRange {
  readonly phase: Phase;
  readonly from: number;
  readonly to: number;
}

/** The optimizer's step is a moment or two, and has to be seen. */
const leastShare = 0.09;

/** Phases by the number of their moments; none narrower than can be seen. Of a step without moments: none. */
export function phaseRanges(step: Pick<StepAnswer, "moments" | "count">): PhaseRange[] {
  const extents = phaseExtents(step);
  const shares = extents.map(({ from, to }) => Math.max(leastShare, (to - from) / Math.max(1, step.count)));
  const whole = shares.reduce((sum, share) => sum + share, 0);
  let at = 0;
  return extents.map(({ phase }, i) => {
    const from = at;
    at += (shares[i] ?? 0) / whole;
    return { phase, from, to: at };
  });
}

/** First moment of each phase that is there, and the first behind it, among all of the step's. */
function phaseExtents({ moments, count }: Pick<StepAnswer, "moments" | "count">): PhaseRange[] {
  const present = phaseOrder.filter((phase) => moments.some((moment) => moment.phase === phase));
  const starts = present.map((phase) => moments.find((moment) => moment.phase === phase)?.at ?? 0);
  return present.map((phase, i) => ({ phase, from: starts[i] ?? 0, to: starts[i + 1] ?? count }));
}

/** One moment as a column of the picture. */
export interface Column {
  readonly moment: Moment;
  /** Shares of the width: from its own begin to the next one's. */
  readonly from: number;
  readonly to: number;
  readonly total: number;
}

/**
 * The columns of a step inside the ranges of the phases, which may be another step's: so two steps can be compared phase
 * by phase. Phases without a range are left out.
 */
export function columnsOf(step: StepAnswer, ranges: readonly PhaseRange[]): Column[] {
  const extents = phaseExtents(step);
  const columns: Column[] = [];
  step.moments.forEach((moment, i) => {
    const extent = extents.find(({ phase }) => phase === moment.phase);
    const range = ranges.find(({ phase }) => phase === moment.phase);
    if (extent === undefined || range === undefined) return;
    const next = step.moments[i + 1];
    const end = next?.phase === moment.phase ? next.at : extent.to;
    const place = (at: number): number =>
      range.from + ((at - extent.from) / Math.max(1, extent.to - extent.from)) * (range.to - range.from);
    columns.push({ moment, from: place(moment.at), to: place(end), total: totalOf(moment.bytes) });
  });
  return columns;
}

function totalOf(bytes: MomentBytes): number {
  return stackedKinds.reduce((sum, kind) => sum + bytes[kind], 0);
}

/** One kind's band: lower and upper edge in bytes for every column. */
export interface Band {
  readonly kind: MomentKind;
  readonly edges: readonly (readonly [low: number, high: number])[];
}

/** From the bottom up; kinds that never hold a byte are left out. */
export function bandsOf(columns: readonly Column[]): Band[] {
  const rows = columns.map(({ moment }) => moment.bytes);
  const used = stackedKinds.filter((kind) => rows.some((bytes) => bytes[kind] > 0));
  return stack<unknown, MomentBytes, MomentKind>()
    .keys(used)
    .value((bytes, kind) => bytes[kind])(rows)
    .map((series) => ({ kind: series.key, edges: series.map(([low, high]) => [low, high] as const) }));
}

/** The column at a share of the width, by halving; the nearest one outside. -1 without columns. */
export function columnAt(columns: readonly Column[], share: number): number {
  let [low, high] = [0, columns.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((columns[middle]?.from ?? 0) <= share) low = middle;
    else high = middle - 1;
  }
  return high < 0 ? -1 : low;
}

/** Room for a label: its middle, and the height that is free over its whole width. */
export interface LabelPlace {
  readonly x: number;
  readonly y: number;
  readonly height: number;
}

/**
 * Where a label fits into a band: in the stretch of `width` pixels over which most height stays inside the band. Upper and
 * lower edge by pixel, growing downwards; undefined when the band is narrower than the label.
 */
export function labelPlace(
  upper: readonly number[],
  lower: readonly number[],
  width: number,
): LabelPlace | undefined {
  const span = Math.ceil(width);
  const ceilings = highestOfStretches(upper, span);
  const floors = highestOfStretches(
    lower.map((edge) => -edge),
    span,
  );
  let best: LabelPlace | undefined;
  ceilings.forEach((ceiling, start) => {
    const floor = -(floors[start] ?? 0);
    if (best !== undefined && floor - ceiling <= best.height) return;
    best = { x: start + span / 2, y: (floor + ceiling) / 2, height: floor - ceiling };
  });
  return best;
}

/** The highest value of every stretch of `span` neighbours, by a queue of falling candidates. */
function highestOfStretches(values: readonly number[], span: number): number[] {
  const queue: number[] = [];
  const found: number[] = [];
  values.forEach((value, i) => {
    while (queue.length > 0 && (values[queue.at(-1) ?? 0] ?? 0) <= value) queue.pop();
    queue.push(i);
    if ((queue[0] ?? 0) <= i - span) queue.shift();
    if (i >= span - 1) found.push(values[queue[0] ?? i] ?? value);
  });
  return found;
}
