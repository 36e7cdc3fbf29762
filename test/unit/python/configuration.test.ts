import assert from "node:assert/strict";
import {
  ConfiguredNumber,
  readConfiguration,
  type Configuration,
} from "../../../server/src/python/configuration";

const whole = (value: number): ConfiguredNumber => new ConfiguredNumber(value, false);
const float = (value: number): ConfiguredNumber => new ConfiguredNumber(value, true);

/** The values under the keys of a mapping. */
function read(text: string, form: "json" | "yaml" | "omegaconf"): Record<string, Configuration> {
  const found = readConfiguration(text, form);
  assert.ok(found instanceof Map);
  return Object.fromEntries(found as Map<string, Configuration>);
}

describe("configuration files", () => {
  it("have the scalars that PyYAML has", () => {
    const text = `a: 1
b: 1.0
c: 1e-3
d: 1.5e-3
e: yes
f: Off
g: "yes"
h: '3'
i: ~
j:
k: 0x10
l: 010
m: 1_000
n: -5
o: 2:30
p: .5
q: 1.2.3
r: 2024-01-01
s: no problem
`;
    assert.deepEqual(read(text, "yaml"), {
      a: whole(1),
      b: float(1),
      c: "1e-3",
      d: float(0.0015),
      e: true,
      f: false,
      g: "yes",
      h: "3",
      i: null,
      j: null,
      k: whole(16),
      l: whole(8),
      m: whole(1000),
      n: whole(-5),
      o: whole(150),
      p: float(0.5),
      q: "1.2.3",
      r: "2024-01-01",
      s: "no problem",
    });
    assert.deepEqual(read("c: 1e-3\nd: 2", "omegaconf"), { c: float(0.001), d: whole(2) });
  });

  it("have lists, dicts, references and keys that are numbers", () => {
    const text = "base: &base {w: 1, h: [2, {x: 3}]}\nmore:\n  <<: *base\n  w: 4\n7: seven\n'8': eight\n";
    const { more } = read(text, "yaml");
    assert.deepEqual(
      more,
      new Map<string, Configuration>([
        ["w", whole(4)],
        ["h", [whole(2), new Map([["x", whole(3)]])]],
      ]),
    );
    const keys = readConfiguration(text, "yaml");
    assert.ok(keys instanceof Map && keys.has(7) && keys.has("8"));
  });

  it("keep whole numbers of JSON apart from others", () => {
    assert.deepEqual(read(`{"a": 1, "b": 1.0, "c": 1e2, "d": true, "e": null, "f": "on", "a": 2}`, "json"), {
      a: whole(2),
      b: float(1),
      c: float(100),
      d: true,
      e: null,
      f: "on",
    });
  });

  it("are nothing where the library refuses them, or where they grow without measure", () => {
    assert.equal(readConfiguration("{a: 1}", "json"), undefined);
    assert.equal(readConfiguration("a: [1", "yaml"), undefined);
    assert.equal(readConfiguration("a: !!python/object:os.system x", "yaml"), undefined);
    assert.equal(readConfiguration("a: 99999999999999999999", "yaml"), undefined);
    const levels = Array.from(
      { length: 12 },
      (_, i) =>
        `l${i}: &l${i} [${Array(9)
          .fill(i ? `*l${i - 1}` : "x")
          .join(", ")}]`,
    );
    assert.equal(readConfiguration(levels.join("\n"), "yaml"), undefined);
    assert.equal(readConfiguration("[".repeat(100_000), "yaml"), undefined);
  });
});
