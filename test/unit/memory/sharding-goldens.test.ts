/** What each of several processes holds of the model states, as PyTorch's own wrappers were measured. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { estimateModule, type ModelEstimate } from "../../../server/src/memory/estimate";
import type { Setting, Sharding } from "../../../server/src/memory/setup";
import { wholeParameters } from "../../../server/src/memory/sharding";
import { parseModule } from "../../../server/src/python/parse";
import { buildScopes } from "../../../server/src/python/scope";
import { goldensFolder } from "../../support/accuracy";
import { expressionOf } from "../../support/goldens";
import { loadParser } from "../../support/parser";

interface Rank {
  readonly parameters: number;
  readonly buffers: number;
  readonly gradients: number;
  readonly optimizer: number;
  readonly buckets_beside_gradients?: number;
}

interface Run {
  readonly model: string;
  readonly way: string;
  readonly devices: number;
  readonly ranks: readonly Rank[];
}

const read = (name: string): string => readFileSync(path.join(goldensFolder, name), "utf8");
const { runs } = JSON.parse(read("sharding.json")) as { runs: readonly Run[] };
const shardings: Readonly<Record<string, Sharding>> = {
  ddp: "ddp",
  zero1: "zero-redundancy",
  fsdp: "fsdp",
  fsdp1: "fsdp",
};

const given = <Value>(value: Value): Setting<Value> => ({ value, from: "header" });

/** The models stand in the script that measured them. */
function estimateOf({ model, devices }: Run, shard: Sharding): ModelEstimate {
  const { module } = parseModule(read("measure_sharding.py"));
  const text = `${model}()`;
  const [estimate] = estimateModule(module, buildScopes(module), {
    model: given({ text, expression: expressionOf(text) }),
    optimizer: given({ name: "adamw", options: {} }),
    shard: given(shard),
    devices: given(devices),
  }).all();
  assert.ok(estimate);
  return estimate;
}

function near(found: number, measured: number, share: number): void {
  assert.ok(Math.abs(found - measured) <= share * measured, `${found}, measured ${measured}`);
}

describe("sharded states as measured", () => {
  before(loadParser);

  for (const run of runs) {
    const shard = shardings[run.way];
    if (shard === undefined) continue;
    it(`${run.model}, ${run.way} on ${run.devices} devices`, () => {
      const { parameters, buffers, gradients, optimizer } = estimateOf(run, shard);
      const most = (key: "parameters" | "gradients" | "optimizer" | "buffers"): number =>
        Math.max(...run.ranks.map((rank) => rank[key]));
      // fully_shard pads each parameter's first dimension, which an even share does not
      const padding = shard === "fsdp" ? 0.002 : 0;
      near(parameters.bytes, most("parameters"), padding);
      near(gradients.bytes, most("gradients"), padding);
      assert.equal(buffers.bytes, most("buffers"));
      near(optimizer?.bytes ?? 0, most("optimizer"), padding);
    });
  }

  it("ZeroRedundancyOptimizer's parameters go to the devices that PyTorch gives them to", () => {
    const { runs: partitions } = JSON.parse(read("partition.json")) as {
      runs: readonly { devices: number; elements: readonly number[]; ranks: readonly number[] }[];
    };
    assert.ok(partitions.length > 0);
    for (const { elements, devices, ranks } of partitions)
      assert.deepEqual(wholeParameters(elements, devices), ranks);
  });

  it("DDP's buckets are as large as the gradients, and beside them unless they are views", () => {
    for (const { way, ranks } of runs) {
      for (const rank of ranks) {
        if (way === "ddp") assert.equal(rank.buckets_beside_gradients, rank.gradients);
        if (way === "ddp-bucket-view") assert.equal(rank.buckets_beside_gradients, 0);
      }
    }
  });
});
