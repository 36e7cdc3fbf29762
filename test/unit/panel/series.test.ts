import assert from "node:assert/strict";
import fc from "fast-check";
import { stackedKinds } from "../../../client/panel/kinds";
import { bandsOf, columnAt, columnsOf, labelPlace, phaseRanges } from "../../../client/panel/series";
import type { Moment, StepAnswer } from "../../../server/src/lsp/timeline-request";
import { momentKinds } from "../../../server/src/memory/moment-bytes";
import type { MomentBytes } from "../../../server/src/memory/moment-bytes";

const none: MomentBytes = {
  parameters: 0,
  buffers: 0,
  optimizer: 0,
  gradients: 0,
  inputs: 0,
  saved: 0,
  temporary: 0,
  other: 0,
};

function moment(at: number, phase: Moment["phase"], bytes: Partial<MomentBytes> = {}): Moment {
  const place = { operator: "", modulePath: "", layer: "", place: null, isRecomputed: false };
  return { at, phase, ...place, bytes: { ...none, ...bytes } };
}

function step(moments: readonly Moment[], count = moments.length): StepAnswer {
  return {
    moments,
    count,
    peak: 0,
    allocated: 0,
    usage: { least: 0, most: null },
    parameters: 0,
    gradients: 0,
    optimizer: 0,
    saved: 0,
    work: null,
    complete: true,
    reasons: [],
  };
}

const whole = step([
  ...[0, 1, 2, 3].map((at) => moment(at, "forward", { parameters: 8, saved: at })),
  ...[4, 5, 6, 7, 8, 9].map((at) => moment(at, "backward", { parameters: 8, gradients: at })),
  moment(10, "step", { parameters: 8, temporary: 3 }),
]);

describe("the timeline's series", () => {
  it("stack every kind that the bytes can be for", () => {
    assert.deepEqual([...stackedKinds].sort(), [...momentKinds].sort());
  });

  it("give each phase its share, none too narrow to be seen", () => {
    const ranges = phaseRanges(whole);
    assert.deepEqual(
      ranges.map(({ phase }) => phase),
      ["forward", "backward", "step"],
    );
    assert.equal(ranges[0]?.from, 0);
    assert.ok(Math.abs((ranges[2]?.to ?? 0) - 1) < 1e-9);
    for (const [i, { from }] of ranges.entries()) if (i > 0) assert.equal(from, ranges[i - 1]?.to);
    const long = step([moment(0, "forward"), moment(4000, "backward"), moment(9000, "step")], 9001);
    const [, , last] = phaseRanges(long);
    assert.ok((last?.to ?? 0) - (last?.from ?? 0) > 0.05);
    assert.deepEqual(phaseRanges(step([])), []);
  });

  it("lie one behind the other, phase by phase, also in another step's ranges", () => {
    const other = step([moment(0, "forward"), moment(1, "backward"), moment(500, "backward")], 900);
    for (const each of [whole, other]) {
      const columns = columnsOf(each, phaseRanges(whole));
      assert.equal(columns.length, each.moments.length);
      for (const [i, { from, to }] of columns.entries()) {
        assert.ok(from < to);
        const next = columns[i + 1];
        if (next !== undefined) assert.ok(Math.abs(next.from - to) < 1e-9);
      }
      const backward = columns.find((column) => column.moment.phase === "backward");
      assert.equal(backward?.from, phaseRanges(whole)[1]?.from);
    }
  });

  it("pile up to the total and leave empty kinds out", () => {
    const columns = columnsOf(whole, phaseRanges(whole));
    const bands = bandsOf(columns);
    assert.deepEqual(
      bands.map(({ kind }) => kind),
      ["parameters", "gradients", "saved", "temporary"],
    );
    columns.forEach(({ total }, i) => {
      assert.equal(bands[0]?.edges[i]?.[0], 0);
      assert.equal(bands.at(-1)?.edges[i]?.[1], total);
      for (const [k, { edges }] of bands.entries()) {
        if (k > 0) assert.equal(edges[i]?.[0], bands[k - 1]?.edges[i]?.[1]);
      }
    });
  });

  it("are found by pointing anywhere", () => {
    const columns = columnsOf(whole, phaseRanges(whole));
    columns.forEach(({ from, to }, i) => assert.equal(columnAt(columns, (from + to) / 2), i));
    assert.equal(columnAt(columns, -1), 0);
    assert.equal(columnAt(columns, 2), columns.length - 1);
    assert.equal(columnAt([], 0.5), -1);
  });
});

describe("room for a label in a band", () => {
  it("is where the band is free over the label's whole width", () => {
    const edges = fc.array(fc.tuple(fc.nat(50), fc.nat(50)), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(edges, fc.integer({ min: 1, max: 20 }), (pairs, width) => {
        const upper = pairs.map(([top]) => top);
        const lower = pairs.map(([top, height]) => top + height);
        const heights = pairs.slice(0, Math.max(0, pairs.length - width + 1)).map((_, start) => {
          const end = start + width;
          return Math.min(...lower.slice(start, end)) - Math.max(...upper.slice(start, end));
        });
        const place = labelPlace(upper, lower, width);
        if (heights.length === 0) assert.equal(place, undefined);
        else assert.equal(place?.height, Math.max(...heights));
      }),
    );
  });
});
