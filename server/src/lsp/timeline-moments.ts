/** Which moments of a long step are shown. */

/** As much of a moment as choosing needs. */
export interface Weighed {
  readonly phase: string;
  readonly total: number;
}

/**
 * Indices of at most `most` moments, in order: all of a short step; else the peak, each phase's first, last and highest
 * moment, and of every stretch of the rest its highest and its lowest.
 */
export function tellingMoments(moments: readonly Weighed[], peak: number, most: number): number[] {
  if (moments.length <= most) return moments.map((_, i) => i);
  const kept = new Set<number>([...edges(moments), peak]);
  const stretches = Math.max(0, Math.floor((most - kept.size) / 2));
  for (let i = 0; i < stretches; i++) {
    const from = Math.floor((i * moments.length) / stretches);
    const to = Math.floor(((i + 1) * moments.length) / stretches);
    const { lowest, highest } = extremes(moments, from, to);
    kept.add(lowest);
    kept.add(highest);
  }
  return [...kept].sort((a, b) => a - b);
}

/** First, last and highest moment of every phase. */
function edges(moments: readonly Weighed[]): number[] {
  const found: number[] = [];
  let start = 0;
  for (let i = 1; i <= moments.length; i++) {
    if (moments[i]?.phase === moments[start]?.phase) continue;
    found.push(start, i - 1, extremes(moments, start, i).highest);
    start = i;
  }
  return found;
}

function extremes(
  moments: readonly Weighed[],
  from: number,
  to: number,
): { lowest: number; highest: number } {
  let [lowest, highest] = [from, from];
  for (let i = from; i < to; i++) {
    const total = moments[i]?.total ?? 0;
    if (total < (moments[lowest]?.total ?? 0)) lowest = i;
    if (total > (moments[highest]?.total ?? 0)) highest = i;
  }
  return { lowest, highest };
}
