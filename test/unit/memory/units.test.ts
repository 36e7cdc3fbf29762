import assert from "node:assert/strict";
import fc from "fast-check";
import { deviceNames, findDevice } from "../../../server/src/memory/devices";
import { formatBytes, isDecimalSize, parseSize } from "../../../server/src/memory/units";

describe("sizes", () => {
  it("reads binary and decimal units", () => {
    assert.equal(parseSize("6.5GiB"), 6_979_321_856);
    assert.equal(parseSize("6656MiB"), 6_979_321_856);
    assert.equal(parseSize("8GB"), 8_000_000_000);
    assert.equal(parseSize("512B"), 512);
    assert.equal(parseSize(" 24 gib "), 24 * 1024 ** 3);
    assert.ok(isDecimalSize("8GB") && !isDecimalSize("8GiB"));
  });

  it("reads nothing else", () => {
    for (const text of ["", "8", "GiB", "-1GiB", "8 potatoes", "1e9B", "8GiBs", "１GiB"]) {
      assert.equal(parseSize(text), undefined, text);
    }
  });

  it("writes what people read", () => {
    assert.equal(formatBytes(0), "0 B");
    assert.equal(formatBytes(320_000_000), "305.2 MiB");
    assert.equal(formatBytes(5_776_731_340), "5.38 GiB");
    assert.equal(formatBytes(1024 ** 2 - 1), "1.0 MiB");
    assert.equal(formatBytes(1023), "1023 B");
  });

  it("reads back what it writes, as far as it shows", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 45 }), (bytes) => {
        const read = parseSize(formatBytes(bytes));
        assert.ok(read !== undefined && Math.abs(read - bytes) <= Math.max(0.05 * 1024, 0.051 * bytes));
      }),
    );
  });
});

describe("devices", () => {
  it("finds a card under the names people use", () => {
    assert.equal(findDevice("RTX 4090")?.name, "rtx-4090");
    assert.equal(findDevice("NVIDIA GeForce RTX 3060")?.name, "rtx-3060");
    assert.equal(findDevice("Tesla T4")?.name, "t4");
    assert.equal(findDevice("rtx-9999"), undefined);
  });

  it("counts what PyTorch can use, less than what the label says", () => {
    for (const name of deviceNames) {
      const usable = findDevice(name)?.usableBytes ?? 0;
      const label = /(\d+)gb/.exec(name)?.[1];
      if (label !== undefined) assert.ok(usable < Number(label) * 1024 ** 3, name);
      assert.ok(usable > 1024 ** 3, name);
    }
    assert.equal(findDevice("t4")?.usableBytes, Math.round(14.56 * 1024 ** 3));
  });
});
