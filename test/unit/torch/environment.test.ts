/** Copies of environments share what is the same in them, and nobody can tell. */
import assert from "node:assert/strict";
import { Environment } from "../../../server/src/torch/provenance/environment";
import type { Definition } from "../../../server/src/torch/provenance/flow";
import { unordered } from "../../../server/src/python/tree";
import type { Name } from "../../../server/src/python/tree";

const nothing: readonly Definition[] = [];

function definition(id: string, start: number): Definition {
  const target: Name = {
    kind: "Name",
    id,
    start,
    end: start + id.length,
    order: unordered,
    parent: undefined,
  };
  return { key: id, target, node: target, kind: "assign", value: undefined, path: [] };
}

const [one, two, three] = [definition("x", 1), definition("x", 2), definition("x", 3)];

describe("environments", () => {
  it("hold what was bound last, and else what stands for nothing", () => {
    const environment = Environment.empty(nothing);
    environment.set("x", [one]);
    environment.set("x", [two]);
    assert.deepEqual(environment.get("x"), [two]);
    assert.equal(environment.get("y"), nothing);
  });

  it("are not changed by what a copy binds, nor a copy by them", () => {
    const environment = Environment.empty(nothing);
    environment.set("x", [one]);
    const copy = environment.copy();
    copy.set("x", [two]);
    environment.set("y", [three]);
    assert.deepEqual(environment.get("x"), [one]);
    assert.deepEqual(copy.get("x"), [two]);
    assert.equal(copy.get("y"), nothing);
  });

  it("give both ways' bindings where they meet, each once", () => {
    const environment = Environment.empty(nothing);
    environment.set("x", [one]);
    environment.set("kept", [three]);
    const left = environment.copy();
    const right = environment.copy();
    left.set("x", [two]);
    right.set("y", [two]);
    const met = left.joined(right);
    assert.deepEqual(met.get("x"), [two, one]);
    assert.deepEqual(met.get("y"), [two]);
    assert.deepEqual(met.get("kept"), [three]);
    assert.deepEqual(left.get("y"), []);
  });

  it("agree with plain maps, however often they part and meet", () => {
    // A sequence that looks random and is the same on every machine.
    let seed = 7;
    const next = (below: number): number => (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
    const keys = ["a", "b", "c", "d", "e"];
    let pairs = [{ shared: Environment.empty(nothing), plain: new Map<string, readonly Definition[]>() }];
    for (let step = 0; step < 3_000; step++) {
      const pair = pairs[next(pairs.length)];
      const other = pairs[next(pairs.length)];
      if (pair === undefined || other === undefined) continue;
      const choice = next(4);
      if (choice <= 1) {
        const bound = [definition(keys[next(keys.length)] ?? "a", step)];
        const [{ key }] = bound as [Definition];
        pair.shared.set(key, bound);
        pair.plain.set(key, bound);
      } else if (choice === 2) pairs.push({ shared: pair.shared.copy(), plain: new Map(pair.plain) });
      else if (pair !== other) {
        const plain = new Map<string, readonly Definition[]>();
        for (const key of keys) {
          const [mine, theirs] = [pair.plain.get(key) ?? nothing, other.plain.get(key) ?? nothing];
          plain.set(key, [...mine, ...theirs.filter((found) => !mine.includes(found))]);
        }
        pairs.push({ shared: pair.shared.joined(other.shared).copy(), plain });
      }
      if (pairs.length > 12) pairs = pairs.slice(-6);
      for (const { shared, plain } of pairs) {
        for (const key of keys) assert.deepEqual(shared.get(key), plain.get(key) ?? []);
      }
    }
  });
});
