import assert from "node:assert/strict";
import fc from "fast-check";
import { area, curveStepAfter } from "d3-shape";
import { stepArea, stepLine } from "../../../client/panel/step-path";

describe("paths of steps", () => {
  it("have a stroke for each change, and none where the value stays", () => {
    const steps = [3, 3, 1, 1, 2].map((y, i) => ({ x: 10 * i, y }));
    assert.equal(stepLine(steps, 50), "M0,3H20V1H40V2H50");
    assert.equal(stepLine([], 50), "");
  });

  it("enclose what lies between two lines, there and back", () => {
    const upper = [1, 2].map((y, i) => ({ x: 10 * i, y }));
    const lower = [5, 4].map((y, i) => ({ x: 10 * i, y }));
    assert.equal(stepArea(upper, lower, 20), "M0,1H10V2H20V4H10V5H0Z");
    assert.equal(stepArea([], [], 20), "");
  });

  it("have the corners of a general path, shorter", () => {
    const level = fc.integer({ min: 0, max: 5 });
    fc.assert(
      fc.property(fc.array(fc.tuple(level, level), { minLength: 1, maxLength: 30 }), (edges) => {
        const at = (which: 0 | 1) => edges.map((edge, i) => ({ x: i, y: edge[which] }));
        const general = area<number>()
          .x((i) => i)
          .y0((i) => edges[Math.min(i, edges.length - 1)]?.[0] ?? 0)
          .y1((i) => edges[Math.min(i, edges.length - 1)]?.[1] ?? 0)
          .curve(curveStepAfter);
        const path = general(Array.from({ length: edges.length + 1 }, (_, i) => i)) ?? "";
        assert.deepEqual(corners(stepArea(at(1), at(0), edges.length)), corners(path));
      }),
    );
  });
});

/** Points of a path at which its direction changes. */
function corners(path: string): string[] {
  const points: [number, number][] = [];
  for (const [, command, first, second] of path.matchAll(/([MLHV])(-?[\d.]+)(?:,(-?[\d.]+))?/g)) {
    const [x = 0, y = 0] = points.at(-1) ?? [];
    const value = Number(first);
    if (command === "H") points.push([value, y]);
    else if (command === "V") points.push([x, value]);
    else points.push([value, Number(second)]);
  }
  const distinct = points.filter(([x, y], i) => x !== points[i - 1]?.[0] || y !== points[i - 1]?.[1]);
  return distinct
    .filter(([x, y], i) => {
      const [before, after] = [distinct[i - 1], distinct[i + 1]];
      if (before === undefined || after === undefined) return true;
      return !(before[0] === x && after[0] === x) && !(before[1] === y && after[1] === y);
    })
    .map((point) => point.join(","));
}
