/** What `kept.ts` leaves out without following a value must be what following it would leave out. */
import assert from "node:assert/strict";
import type { Expression, Node } from "../../../server/src/python/tree";
import type { Provenance, Store } from "../../../server/src/torch/provenance";
import { createCarriedValues } from "../../../server/src/torch/provenance/carried";
import { createGraphSources } from "../../../server/src/torch/provenance/graph-sources";
import { keptValues, type KeptOptions } from "../../../server/src/torch/provenance/kept";
import { isPlain } from "../../../server/src/torch/provenance/plain-values";
import type { Resolver } from "../../../server/src/torch/resolve";
import { fixtures } from "../../support/fixtures";
import { loadParser } from "../../support/parser";
import { examine } from "../../support/torch";

const texts = [...fixtures("rules"), ...fixtures("reported")].map(({ text }) => text);

const plainValues = `
import torch
import torch.nn as nn
class Meter:
    pass
class Net(nn.Module):
    pass
def train(model, xs):
    kept = []
    for x in xs:
        model(x)
        kept.append(1)
        kept.append("a")
        kept.append(-2.5)
        kept.append(None)
        kept.append([1, {"a": (True, "b")}])
        kept.append(x > 1)
        kept.append(not x)
        kept.append(Meter())
        kept.append(Net())
        kept.append(nn.Linear(2, 2))
        kept.append(torch.zeros(2))
        kept.append(len(xs))
`;

const otherValues = `
import torch
import torch.nn.functional as F
def helper(x):
    return x
def train(model, xs):
    kept = []
    for x in xs:
        y = model(x)
        kept.append(y)
        kept.append([1, y])
        kept.append({"a": y})
        kept.append(-y)
        kept.append(y + 1)
        kept.append(helper(y))
        kept.append(torch.cat([y, y]))
        kept.append(F.relu(y))
        kept.append(sum([y]))
        kept.append(y if xs else 1)
`;

function storesOf(text: string): { readonly plain: readonly Store[]; readonly others: readonly Store[] } {
  const { torch } = examine(text);
  const { stores } = torch.provenance;
  const plain = stores.filter(({ value }) => isPlain(value, torch.resolve));
  return { plain, others: stores.filter((store) => !plain.includes(store)) };
}

describe("what is known to be kept without its graph", () => {
  before(loadParser);

  it("is told by what the value is", () => {
    assert.equal(storesOf(plainValues).plain.length, 12);
    assert.deepEqual(storesOf(plainValues).others, []);
    assert.equal(storesOf(otherValues).others.length, 10);
    assert.deepEqual(storesOf(otherValues).plain, []);
  });

  it("carries none when it is followed, in any test file", () => {
    let plain = 0;
    for (const text of [plainValues, ...texts]) {
      const { resolve, provenance } = examine(text).torch;
      for (const { value, path } of provenance.stores) {
        if (!isPlain(value, resolve)) continue;
        plain++;
        const carried = provenance.carriedHere(value, path);
        assert.notEqual(carried.graph, "yes", text);
        assert.deepEqual(carried.parameters, [], text);
      }
    }
    assert.ok(plain > 50, `${plain} values`);
  });

  it("leaves nothing out in loops that may begin no graph, in any test file", () => {
    let loops = 0;
    for (const text of texts) {
      const { resolve, provenance } = examine(text).torch;
      const options = optionsOf(resolve, provenance);
      loops += resolve.index.loops.filter((loop) => !options.sources.mayRunIn(loop)).length;
      const everywhere = { ...options, sources: { mayRunIn: () => true } };
      assert.deepEqual(
        keptValues(provenance.stores, options).map(({ value }) => value.start),
        keptValues(provenance.stores, everywhere).map(({ value }) => value.start),
        text,
      );
    }
    assert.ok(loops > 50, `${loops} loops`);
  });
});

/** Of a finder of kept values, as the provenance makes it. */
function optionsOf(resolver: Resolver, provenance: Provenance): KeptOptions {
  const { flow, modes, parameters, backwards, stores, needed, reach } = provenance;
  const storedIn = (key: string): readonly Store[] => stores.filter(({ holderKey }) => holderKey === key);
  const carried = createCarriedValues({ resolver, flow, modes, parameters, backwards, storedIn });
  const sources = createGraphSources({ resolver, reach, backwarded: carried.proven().keys() });
  const assigned = stores.flatMap(({ statement }) =>
    statement.kind === "Assign" ? statement.targets.map((element) => ({ statement, element })) : [],
  );
  const walkedFrom = (value: Expression): ReadonlySet<Node> => provenance.graphCalls(value);
  return {
    resolver,
    flow,
    carried,
    needed,
    reach,
    sources,
    backwards,
    withoutBackward: () => provenance.withoutBackward,
    gradientMode: (node) => provenance.gradientMode(node),
    walkedFrom,
    assigned,
  };
}
