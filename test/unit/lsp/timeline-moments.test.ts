import assert from "node:assert/strict";
import fc from "fast-check";
import { tellingMoments } from "../../../server/src/lsp/timeline-moments";

const phases = ["forward", "backward", "step"];

const steps = fc
  .array(fc.nat(1_000_000_000), { minLength: 1, maxLength: 3000 })
  .chain((totals) => fc.tuple(fc.constant(totals), fc.nat(totals.length), fc.nat(totals.length)))
  .map(([totals, a, b]) =>
    totals.map((total, i) => ({
      phase: phases[Number(i >= Math.min(a, b)) + Number(i >= Math.max(a, b))] ?? "",
      total,
    })),
  );

const highest = (moments: readonly { total: number }[]): number =>
  moments.reduce((most, { total }) => Math.max(most, total), 0);

describe("moments that are shown of a long step", () => {
  it("never lose a peak, of the step or of a phase, nor a phase's ends", () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 20, max: 400 }), fc.nat(), (moments, most, any) => {
        const peak = any % moments.length;
        const kept = tellingMoments(moments, peak, most);
        assert.ok(kept.length <= Math.max(most, 10));
        assert.deepEqual(
          kept,
          [...new Set(kept)].sort((a, b) => a - b),
        );
        assert.ok(kept.includes(peak));
        for (const phase of phases) {
          const all = moments.flatMap((moment, i) => (moment.phase === phase ? [{ ...moment, i }] : []));
          const shown = all.filter(({ i }) => kept.includes(i));
          assert.equal(highest(shown), highest(all), phase);
          assert.equal(shown[0]?.i, all[0]?.i);
          assert.equal(shown.at(-1)?.i, all.at(-1)?.i);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("are all of a short step", () => {
    const moments = [3, 1, 2].map((total) => ({ phase: "forward", total }));
    assert.deepEqual(tellingMoments(moments, 0, 3), [0, 1, 2]);
    assert.deepEqual(tellingMoments([], 0, 3), []);
  });

  it("keep the shape: a spike in every stretch stays", () => {
    const moments = Array.from({ length: 10_000 }, (_, i) => ({
      phase: "forward",
      total: i % 100 === 50 ? 1000 : i % 7,
    }));
    const kept = tellingMoments(moments, 50, 450);
    assert.equal(kept.filter((i) => moments[i]?.total === 1000).length, 100);
  });
});
