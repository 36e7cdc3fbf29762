import assert from "node:assert/strict";
import fc from "fast-check";
import { axisTop, batchChoices, byteTicks, changeText, fill, percent } from "../../../client/panel/scale";

const GiB = 2 ** 30;
const labels = (most: number, about = 6): string[] => byteTicks(most, about).map(({ label }) => label);

describe("the scale of bytes", () => {
  it("has round figures of one binary unit", () => {
    assert.deepEqual(labels(5 * GiB), ["0", "1 GiB", "2 GiB", "3 GiB", "4 GiB", "5 GiB"]);
    assert.deepEqual(labels(1.4 * GiB, 6), ["0", "256 MiB", "512 MiB", "768 MiB", "1 GiB", "1.25 GiB"]);
    assert.deepEqual(labels(100 * 2 ** 20, 4), ["0", "32 MiB", "64 MiB", "96 MiB"]);
    assert.deepEqual(labels(0), ["0"]);
  });

  it("is never crowded and never empty, and its figures are the ticks'", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 42 }), (most) => {
        const ticks = byteTicks(most, 6);
        assert.ok(ticks.length >= 2 && ticks.length <= 8, `${ticks.length} ticks up to ${most}`);
        assert.equal(new Set(ticks.map(({ label }) => label)).size, ticks.length);
        assert.ok(ticks.every(({ bytes }) => bytes <= most));
      }),
    );
  });

  it("reaches limits that are near, and not those far above", () => {
    assert.ok(axisTop([4 * GiB], [6 * GiB]) > 6 * GiB);
    assert.ok(axisTop([4 * GiB], [80 * GiB]) < 5 * GiB);
    assert.ok(axisTop([4 * GiB, 9 * GiB], []) > 9 * GiB);
    assert.ok(axisTop([], []) > 0);
  });
});

describe("figures of the panel", () => {
  it("offer micro-batches around the present one, which is among them", () => {
    for (const present of [1, 7, 256, 100_000]) {
      const choices = batchChoices(present);
      assert.ok(choices.includes(present));
      assert.deepEqual(
        choices,
        [...choices].sort((a, b) => a - b),
      );
      assert.ok(choices.every(Number.isInteger));
      assert.ok((choices.at(-1) ?? 0) >= 4 * present);
    }
  });

  it("say changes with their sign", () => {
    assert.equal(changeText(4, 3, "en"), "−25 %");
    assert.equal(changeText(4, 5, "en"), "+25 %");
    assert.equal(changeText(4, 4, "en"), "±0 %");
    assert.equal(changeText(0, 4, "en"), undefined);
    assert.equal(percent(0.004, "en"), "0.4 %");
    assert.equal(percent(12.34, "en"), "1,234 %");
  });

  it("fill places of texts, those without a value stay", () => {
    assert.equal(fill("{1} of {0}, {2}", 3, "two"), "two of 3, {2}");
  });
});
