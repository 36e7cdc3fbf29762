import assert from "node:assert/strict";
import { masterWeightBytes, precisionMode } from "../../../server/src/memory/precision";
import { shardStates, type ModelStates } from "../../../server/src/memory/sharding";
import { stepPeak, workspaceBytes } from "../../../server/src/memory/simulate";
import { nowhere } from "../../../server/src/memory/tape";

const P = 8_000_000;
/** Adam in fp32, eight equal blocks. */
const states: ModelStates = {
  parameters: P,
  trainable: P,
  buffers: 1000,
  gradients: P,
  optimizer: 2 * P,
  largestUnit: P / 8,
  gradientElement: 4,
};

describe("sharding", () => {
  it("holds everything on one device", () => {
    const { device, host } = shardStates(states, "fsdp", 1);
    assert.deepEqual(device, {
      parameters: P,
      buffers: 1000,
      gradients: P,
      optimizer: 2 * P,
      gathered: 0,
      buckets: 0,
    });
    assert.equal(host, 0);
  });

  it("adds a copy of the gradients for DDP's buckets", () => {
    const { device } = shardStates(states, "ddp", 4);
    assert.equal(device.parameters, P);
    assert.equal(device.buckets, P);
    const views = shardStates({ ...states, hasBucketViews: true }, "ddp", 4);
    assert.equal(views.device.buckets, 0, "gradient_as_bucket_view");
  });

  it("shards what each stage of ZeRO says", () => {
    const share = (sharding: "zero1" | "zero2" | "zero3"): number[] => {
      const { device } = shardStates(states, sharding, 4);
      return [device.parameters, device.gradients, device.optimizer];
    };
    assert.deepEqual(share("zero1"), [P, P, P / 2]);
    assert.deepEqual(share("zero2"), [P, P / 4, P / 2]);
    assert.deepEqual(share("zero3"), [P / 4, P / 4, P / 2]);
  });

  it("keeps the gathered units on top of FSDP's shards", () => {
    const { device } = shardStates(states, "fsdp", 4);
    assert.equal(device.gathered, 2 * (P / 8) + P / 8);
    const unwrapped = shardStates({ ...states, largestUnit: P }, "fsdp", 4);
    assert.equal(unwrapped.device.gathered, 2 * P);
  });

  it("moves offloaded states to the host and says how much", () => {
    const { device, host } = shardStates(states, "zero2", 4, "optimizer");
    assert.equal(device.optimizer, 0);
    assert.equal(host, P / 2 + P / 4);
    const all = shardStates(states, "zero3", 4, "parameters");
    assert.equal(all.device.parameters, 0);
    assert.equal(all.host, P / 4 + P / 4 + P / 2);
  });
});

describe("precision", () => {
  it("casts the states in pure low precision and only computes low under autocast", () => {
    assert.deepEqual(precisionMode("bf16"), { states: "bfloat16", autocast: undefined });
    assert.deepEqual(precisionMode("amp-fp16"), { states: "float32", autocast: "float16" });
  });

  it("keeps 16 bytes a parameter for Adam with master weights", () => {
    const { parameters, gradients, optimizer } = masterWeightBytes(2);
    assert.equal(parameters + gradients + optimizer, 16);
  });
});

describe("the peak of a step", () => {
  const peak = (live: number) => ({ live, allocated: live, operator: "x", location: nowhere });
  const traced = { forward: peak(100), backward: peak(120), after: 90, afterAllocated: 90 };

  it("puts the optimizer's state under every phase and its temporaries on the step", () => {
    assert.equal(stepPeak(traced, undefined).phase, "backward");
    const adam = { state: 40, stateAllocated: 40, temporary: 50, temporaryAllocated: 50 };
    const found = stepPeak(traced, adam, 1000);
    assert.equal(found.phase, "step");
    assert.equal(found.bytes, 180);
    assert.equal(found.allocated, 1180);
  });

  it("knows the workspaces of cuBLAS", () => {
    assert.equal(workspaceBytes("t4"), 9_568_256);
    assert.equal(workspaceBytes("h100-80gb"), 64 * 1024 ** 2);
    assert.equal(workspaceBytes(undefined), 9_568_256);
  });
});
