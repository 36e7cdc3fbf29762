import assert from "node:assert/strict";
import fc from "fast-check";
import { peakLabel } from "../../../client/panel/peak-label";

const area = { left: 66, right: 600, top: 24, bottom: 300 };
const texts = {
  first: "Peak 8.55 GiB · Forward",
  line: "line 20: ",
  code: "train(model, criterion, loader, optimizer)",
};

describe("the label of the peak", () => {
  it("stands beside its mark, to the right where there is room", () => {
    const label = peakLabel(100, 100, area, texts);
    assert.deepEqual([label.isBefore, label.left, label.code], [false, 116, texts.code]);
    assert.ok(peakLabel(580, 100, area, texts).isBefore);
  });

  it("shows less code where neither side has room for all, and does not cover the mark", () => {
    const label = peakLabel(300, 30, area, texts);
    assert.match(label.code, /^train\(.*…$/);
    assert.ok(label.left > 300 || label.left + label.width < 300);
  });

  it("stays in the picture, beside its mark unless the picture is narrower than the label", () => {
    const wide = { ...area, right: 900 };
    fc.assert(
      fc.property(
        fc.double({ min: wide.left, max: wide.right, noNaN: true }),
        fc.double({ min: wide.top, max: wide.bottom, noNaN: true }),
        fc.string({ maxLength: 90 }),
        (x, y, code) => {
          const { left, top, width, height } = peakLabel(x, y, wide, { ...texts, code });
          assert.ok(left >= wide.left && left + width <= wide.right);
          assert.ok(top >= wide.top && top + height <= wide.bottom);
          assert.ok(left >= x || left + width <= x);
        },
      ),
    );
  });
});
