import assert from "node:assert/strict";
import { constructModule, findModule, forwardModule } from "../../../server/src/memory/modules/registry";
import type { ModuleObject } from "../../../server/src/memory/modules/module";
import type { Argument, Keywords } from "../../../server/src/memory/operators/argument";
import { roundedUp } from "../../../server/src/memory/allocation-log";
import { Execution, nowhere } from "../../../server/src/memory/tape";
import { Tensor } from "../../../server/src/memory/tensor";
import { isUnknown } from "../../../server/src/memory/unknown";
import { render } from "../../../server/src/messages/message";

const F = "torch.nn.functional";

function op(
  execution: Execution,
  name: string,
  positional: readonly Argument[],
  keywords: Keywords = {},
): Tensor {
  const result = execution.call(name, positional, keywords, nowhere);
  assert.ok(
    result instanceof Tensor,
    isUnknown(result) ? render(result.reason, "en") : `${name} gave no tensor`,
  );
  return result;
}

function linear(execution: Execution, inputs: number, outputs: number): { weight: Tensor; bias: Tensor } {
  return { weight: execution.parameter([outputs, inputs]), bias: execution.parameter([outputs]) };
}

/** Live bytes that are neither states nor inputs. */
function activations(execution: Execution): number {
  const { saved, temporary } = execution.liveBytes();
  return saved + temporary;
}

describe("execution", () => {
  it("frees a storage with its last reference", () => {
    const execution = new Execution({ device: "cuda" });
    const x = execution.input([4, 8], "float32");
    const y = op(execution, "torch.exp", [x]);
    const view = op(execution, "Tensor.view", [y, 32]);
    assert.equal(activations(execution), 128);
    execution.release(y);
    assert.equal(activations(execution), 128, "the view still looks at it");
    execution.release(view);
    assert.equal(activations(execution), 0);
  });

  it("keeps what the graph saved, and drops the graph with its last output", () => {
    const execution = new Execution({ device: "cuda" });
    const { weight, bias } = linear(execution, 8, 16);
    const x = execution.input([4, 8], "float32");
    const y = op(execution, `${F}.linear`, [x, weight, bias]);
    const z = op(execution, "torch.relu", [y]);
    execution.release(y);
    assert.equal(execution.savedBytes, 4 * 16 * 4, "the result of relu");
    assert.equal(execution.savedInputBytes, 4 * 8 * 4);
    execution.release(z);
    assert.equal(execution.savedBytes, 0);
    assert.equal(activations(execution), 0);
  });

  it("keeps nothing without gradients", () => {
    const execution = new Execution({ device: "cuda" });
    const { weight, bias } = linear(execution, 8, 16);
    const x = execution.input([4, 8], "float32");
    execution.pushGradMode(false);
    const y = op(execution, `${F}.linear`, [x, weight, bias]);
    execution.popGradMode();
    assert.equal(y.requiresGrad, false);
    assert.equal(execution.savedBytes, 0);
  });

  it("leaves gradients in leaves and frees the rest", () => {
    const execution = new Execution({ device: "cuda" });
    const { weight, bias } = linear(execution, 8, 16);
    const x = execution.input([4, 8], "float32");
    const loss = op(execution, "torch.sum", [op(execution, `${F}.linear`, [x, weight, bias])]);
    execution.backward(loss);
    assert.deepEqual(weight.gradient?.shape, [16, 8]);
    assert.deepEqual(bias.gradient?.shape, [16]);
    assert.equal(execution.liveBytes().gradients, (16 * 8 + 16) * 4);
    execution.zeroGradients([weight, bias]);
    assert.equal(execution.liveBytes().gradients, 0);
  });

  it("adds later gradients in place: accumulation keeps one gradient", () => {
    const execution = new Execution({ device: "cuda" });
    const { weight, bias } = linear(execution, 8, 16);
    const x = execution.input([4, 8], "float32");
    for (let i = 0; i < 3; i++) {
      const y = op(execution, `${F}.linear`, [x, weight, bias]);
      const loss = op(execution, "torch.sum", [y]);
      execution.release(y);
      execution.backward(loss);
      execution.release(loss);
    }
    assert.equal(execution.liveBytes().gradients, (16 * 8 + 16) * 4);
    assert.equal(activations(execution), 0);
  });

  it("adds at a fan-in without another buffer when the waiting gradient is private", () => {
    const execution = new Execution({ device: "cuda" });
    const weight = execution.parameter([1000]);
    const y = op(execution, "torch.exp", [weight]);
    const sum = op(execution, "torch.add", [
      op(execution, "torch.sin", [y]),
      op(execution, "torch.cos", [y]),
    ]);
    const loss = op(execution, "torch.sum", [sum]);
    execution.startPeak();
    const before = execution.live;
    execution.backward(loss);
    // Each branch needs its own product and one temporary more than the gradient that waits.
    assert.ok(execution.takePeak().live - before <= 4 * 4000 + 4);
    assert.deepEqual(weight.gradient?.shape, [1000]);
  });

  it("caches low-precision copies of weights until autocast is left", () => {
    const execution = new Execution({ device: "cuda" });
    const { weight, bias } = linear(execution, 8, 16);
    const x = execution.input([4, 8], "float32");
    execution.pushAutocast({ enabled: true, dtype: "bfloat16" });
    const first = op(execution, `${F}.linear`, [x, weight, bias]);
    const once = execution.live;
    const second = op(execution, `${F}.linear`, [x, weight, bias]);
    assert.equal(first.dtype, "bfloat16");
    // The second call adds its result and its copy of the input, no copy of the weights.
    assert.equal(execution.live - once, (4 * 16 + 4 * 8) * 2);
    execution.popAutocast();
    execution.release(first);
    execution.release(second);
    assert.equal(activations(execution), 0);
  });

  it("writes through a view into the base's history", () => {
    const execution = new Execution({ device: "cuda" });
    const weight = execution.parameter([4, 8]);
    const canvas = op(execution, "torch.zeros", [4, 16]);
    const slice: Argument = { kind: "slice", lower: 0, upper: 8, step: null };
    const all: Argument = { kind: "slice", lower: null, upper: null, step: null };
    execution.call("Tensor.__setitem__", [canvas, [all, slice], weight], {}, nowhere);
    assert.equal(canvas.node?.name, "CopySlices");
    execution.backward(op(execution, "torch.sum", [canvas]));
    assert.deepEqual(weight.gradient?.shape, [4, 8]);
  });

  for (const reentrant of [false, true]) {
    it(`runs a ${reentrant ? "re-entrant" : "non-reentrant"} checkpoint again in backward`, () => {
      const execution = new Execution({ device: "cuda" });
      const layers = Array.from({ length: 4 }, () => linear(execution, 64, 64));
      const x = execution.input([32, 64], "float32");
      const entry = op(execution, "torch.mul", [x, execution.parameter([1])]);
      const begin = (inputs: Tensor[]) =>
        reentrant ? execution.beginReentrantCheckpoint(inputs) : execution.beginCheckpoint(inputs);
      const region = begin([entry]);
      let y = entry;
      for (const { weight, bias } of layers) {
        const next = op(execution, "torch.relu", [op(execution, `${F}.linear`, [y, weight, bias])]);
        if (y !== entry) execution.release(y);
        y = next;
      }
      if ("segment" in region) execution.endReentrantCheckpoint(region, [y]);
      else execution.endCheckpoint(region);
      const loss = op(execution, "torch.sum", [y]);
      assert.equal(execution.savedBytes, 32 * 64 * 4, "only the segment's input is kept");
      execution.startPeak();
      const before = execution.live;
      execution.backward(loss);
      const extra = execution.takePeak().live - before;
      assert.ok(extra > 3 * 32 * 64 * 4, `the activations were there again: ${extra}`);
      for (const { weight } of layers) assert.deepEqual(weight.gradient?.shape, [64, 64]);
      assert.equal(execution.savedBytes, 0);
    });
  }

  it("says what it does not know, and both shapes when they do not fit", () => {
    const execution = new Execution({ device: "cuda" });
    const a = execution.input([4, 8], "float32");
    const b = execution.input([4, 16], "float32");
    const unknown = execution.call("torch.frobnicate", [a], {}, nowhere);
    assert.ok(isUnknown(unknown));
    assert.equal(render(unknown.reason, "en"), "torch.frobnicate is not in the table of operators");
    const misfit = execution.call("torch.matmul", [a, b], {}, nowhere);
    assert.ok(isUnknown(misfit));
    assert.match(render(misfit.reason, "en"), /\[4, 8\], \[4, 16\]/);
    assert.match(render(misfit.reason, "zh-cn"), /形状 \[4, 8\], \[4, 16\]/);
    assert.equal(activations(execution), 0, "a failed call leaves nothing behind");
  });

  it("rounds every storage up to 512 bytes on CUDA", () => {
    const execution = new Execution({ device: "cuda" });
    execution.input([1], "float32");
    execution.input([129], "float32");
    assert.equal(execution.live, 4 + 516);
    assert.equal(execution.allocated, 512 + 1024);
    assert.equal(roundedUp(0), 0);
  });

  it("follows a thousand layers with ten times the allocations of a hundred", () => {
    const points = (depth: number): number => {
      const execution = new Execution({ device: "cuda" });
      execution.timeline = [];
      let y = execution.input([2, 16], "float32");
      const layers = Array.from({ length: depth }, () => linear(execution, 16, 16));
      for (const { weight, bias } of layers) y = op(execution, `${F}.linear`, [y, weight, bias]);
      execution.backward(op(execution, "torch.sum", [y]));
      return execution.timeline.length;
    };
    const perLayer = points(2) - points(1);
    assert.equal(points(1000) - points(100), 900 * perLayer);
  });
});

/** The least a module object needs. */
class PlainModule implements ModuleObject {
  readonly kind = "module";
  readonly training = true;
  readonly attributes = new Map<string, Argument>();

  constructor(
    private readonly execution: Execution,
    readonly torchClass: string,
  ) {}

  getAttribute(name: string): Argument | undefined {
    return this.attributes.get(name);
  }
  setAttribute(name: string, value: Argument): void {
    this.attributes.set(name, value);
  }
  registerParameter(name: string, tensor: Tensor | null): void {
    this.attributes.set(name, tensor);
  }
  registerBuffer(name: string, tensor: Tensor | null): void {
    this.attributes.set(name, tensor);
  }
  addModule(name: string, module: ModuleObject): void {
    this.attributes.set(name, module);
  }
  child(name: string): ModuleObject | undefined {
    const value = this.attributes.get(name);
    return value instanceof PlainModule ? value : undefined;
  }
  children(): readonly (readonly [string, ModuleObject])[] {
    return [...this.attributes].flatMap(([name, value]) =>
      value instanceof PlainModule ? [[name, value] as const] : [],
    );
  }
  create(torchClass: string, positional: readonly Argument[], keywords: Keywords): PlainModule {
    const made = new PlainModule(this.execution, torchClass);
    // The evaluator's containers have no constructor here.
    if (torchClass === "torch.nn.ModuleList") return made;
    assert.equal(constructModule(this.execution, torchClass, made, positional, keywords), undefined);
    return made;
  }
  copy(): ModuleObject {
    return this;
  }
  call(positional: readonly Argument[], keywords: Keywords): Argument {
    return forwardModule(this.execution, this.torchClass, this, positional, keywords, nowhere);
  }
}

function parametersOf(torchClass: string, positional: readonly Argument[], keywords: Keywords = {}): number {
  const execution = new Execution({ device: "cpu" });
  new PlainModule(execution, "torch.nn.Module").create(torchClass, positional, keywords);
  return execution.parameters.reduce((sum, { shape }) => sum + shape.reduce((n, size) => n * size, 1), 0);
}

describe("modules", () => {
  const counts: readonly [string, readonly Argument[], Keywords, number][] = [
    ["torch.nn.Linear", [10, 20], {}, 220],
    ["torch.nn.Linear", [10, 20], { bias: false }, 200],
    ["torch.nn.Conv2d", [3, 8, 3], { groups: 1 }, 8 * 27 + 8],
    ["torch.nn.Conv2d", [8, 8, [3, 5]], { groups: 8, bias: false }, 8 * 15],
    ["torch.nn.ConvTranspose2d", [8, 4, 2], {}, 8 * 4 * 4 + 4],
    ["torch.nn.BatchNorm2d", [16], {}, 32],
    ["torch.nn.BatchNorm2d", [16], { affine: false }, 0],
    ["torch.nn.LayerNorm", [[4, 8]], {}, 64],
    ["torch.nn.RMSNorm", [8], {}, 8],
    ["torch.nn.InstanceNorm2d", [8], {}, 0],
    ["torch.nn.Embedding", [100, 16], {}, 1600],
    ["torch.nn.Bilinear", [3, 4, 5], {}, 65],
    ["torch.nn.PReLU", [], {}, 1],
    ["torch.nn.LSTM", [10, 20, 2], { bidirectional: true }, 2 * (80 * 30 + 160) + 2 * (80 * 60 + 160)],
    ["torch.nn.GRU", [10, 20], { bias: false }, 60 * 30],
    ["torch.nn.LSTM", [10, 20], { proj_size: 5 }, 80 * 15 + 160 + 100],
    ["torch.nn.GRUCell", [10, 20], {}, 60 * 30 + 120],
    ["torch.nn.MultiheadAttention", [16, 4], {}, 4 * 16 * 16 + 4 * 16],
    ["torch.nn.MultiheadAttention", [16, 4], { kdim: 8, vdim: 8 }, 16 * 16 * 2 + 16 * 8 * 2 + 4 * 16],
    ["torch.nn.TransformerEncoderLayer", [16, 4, 32], {}, 1088 + 544 + 528 + 64],
    ["torch.nn.Transformer", [16, 4, 1, 1, 32], {}, 2224 + 3344 + 2 * 32],
  ];
  for (const [name, positional, keywords, expected] of counts) {
    it(`${name}(${JSON.stringify(positional)}, ${JSON.stringify(keywords)}) has ${expected} parameters`, () => {
      assert.equal(parametersOf(name, positional, keywords), expected);
    });
  }

  it("keeps buffers apart from parameters", () => {
    const execution = new Execution({ device: "cpu" });
    new PlainModule(execution, "torch.nn.Module").create("torch.nn.BatchNorm1d", [16], {});
    assert.equal(execution.liveBytes().buffers, 16 * 4 * 2 + 8);
  });

  it("does not know what it does not know", () => {
    assert.equal(findModule("torch.nn.Frobnicator"), undefined);
  });
});
