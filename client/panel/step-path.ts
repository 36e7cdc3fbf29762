/**
 * Paths of what holds from one moment to the next: nothing but horizontal and vertical strokes, and none where the value stays. A
 * third of what a general path says of the same shape. Pure.
 */

/** Where a value begins to hold, in pixels. */
export interface Step {
  readonly x: number;
  readonly y: number;
}

/** From the first step to `end`. */
export function stepLine(steps: readonly Step[], end: number): string {
  const [first] = steps;
  if (first === undefined) return "";
  return `M${pixels(first.x)},${pixels(first.y)}${strokes(steps, first.y, pixels(end))}`;
}

/** Between two such lines, whose steps begin at the same places. */
export function stepArea(upper: readonly Step[], lower: readonly Step[], end: number): string {
  const last = lower.at(-1);
  if (last === undefined) return "";
  // Backwards a value holds from where the next one begins.
  const back = lower.map(({ y }, i) => ({ x: lower[i + 1]?.x ?? end, y })).reverse();
  const start = pixels(lower[0]?.x ?? end);
  return `${stepLine(upper, end)}V${pixels(last.y)}${strokes(back, last.y, start)}Z`;
}

function strokes(steps: readonly Step[], from: number, end: string): string {
  let path = "";
  let height = pixels(from);
  for (const { x, y } of steps) {
    const next = pixels(y);
    if (next === height) continue;
    path += `H${pixels(x)}V${next}`;
    height = next;
  }
  return `${path}H${end}`;
}

/** To a tenth. */
function pixels(value: number): string {
  return String(Math.round(value * 10) / 10);
}
