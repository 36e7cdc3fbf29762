import assert from "node:assert/strict";
import { namedModules, namedTensors } from "../../../server/src/memory/evaluate/nn/state";
import { dtypeBytes, elementCount } from "../../../server/src/memory/tensor";
import {
  buildGolden,
  goldenModels,
  runGolden,
  stepOf,
  type GoldenModel,
  type GoldenRun,
} from "../../support/goldens";
import { runStep } from "../../../server/src/memory/evaluate/step";
import { loadParser } from "../../support/parser";

interface Errors {
  readonly what: string;
  readonly values: { readonly label: string; readonly error: number }[];
}

/** The value below which a part of the errors lies. */
function quantile({ values }: Errors, part: number): number {
  const sorted = values.map((value) => value.error).sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
}

function report(errors: Errors): string {
  const worst = [...errors.values].sort((a, b) => b.error - a.error)[0];
  const percent = (value: number): string => `${(100 * value).toFixed(3)} %`;
  const exact = errors.values.filter((value) => value.error < 1e-9).length;
  return (
    `${errors.what}: ${errors.values.length} runs, ${exact} exact, median ${percent(quantile(errors, 0.5))}, ` +
    `90th percentile ${percent(quantile(errors, 0.9))}, worst ${percent(worst?.error ?? 0)} (${worst?.label ?? ""})`
  );
}

/** Runs with a peak, and those at the smallest batch: the others repeat them at other sizes. */
function isCompared(run: GoldenRun): boolean {
  return run.saved !== null && (run.forward_peak !== undefined || run.attention !== undefined);
}

function label(golden: GoldenModel, run: GoldenRun): string {
  return `${golden.file} ${golden.model} ${run.device} ${run.precision} B=${run.batch} ${run.attention ?? ""}`.trim();
}

describe("models against measured figures", () => {
  before(loadParser);

  it("parameters, trainable parameters and buffers are exact", () => {
    for (const golden of goldenModels()) {
      const { program, model } = buildGolden(golden, "cuda");
      const parameters = namedTensors(model, "parameters").map((one) => one.tensor);
      const count = (tensors: typeof parameters): number =>
        tensors.reduce((n, { shape }) => n + elementCount(shape), 0);
      const buffers = namedTensors(model, "buffers").reduce(
        (bytes, { tensor }) => bytes + elementCount(tensor.shape) * dtypeBytes[tensor.dtype],
        0,
      );
      const where = `${golden.file} ${golden.model}`;
      assert.equal(count(parameters), golden.params, where);
      assert.equal(count(parameters.filter((tensor) => tensor.requiresGrad)), golden.trainable, where);
      assert.equal(buffers, golden.buffer_bytes, where);
      assert.deepEqual(program.noted(), [], where);
    }
  });

  it("every module of a model has the parameters that PyTorch gives it", () => {
    // models of very many modules are summed up in the goldens
    const listed = goldenModels().filter(({ module_param_bytes: bytes }) => !("(modules)" in bytes));
    assert.ok(listed.length > 30);
    for (const golden of listed) {
      const { model } = buildGolden(golden, "cuda");
      const own: Record<string, number> = {};
      for (const { path, module } of namedModules(model)) {
        const bytes = namedTensors(module, "parameters", false).reduce(
          (n, { tensor }) => n + 4 * elementCount(tensor.shape),
          0,
        );
        if (bytes > 0) own[path] = bytes;
      }
      assert.deepEqual(own, golden.module_param_bytes, `${golden.file} ${golden.model}`);
    }
  });

  it("saved tensors and peaks keep what is promised", function () {
    this.timeout(600_000);
    const saved: Errors = { what: "saved", values: [] };
    const peaks: Errors = { what: "peak", values: [] };
    for (const golden of goldenModels()) {
      for (const run of golden.runs.filter(isCompared)) {
        const measure = runGolden(golden, run);
        const where = label(golden, run);
        assert.deepEqual(measure.notes, [], where);
        saved.values.push({
          label: where,
          error: Math.abs(measure.saved - (run.saved ?? 0)) / Math.max(1, run.saved ?? 0),
        });
        if (run.forward_peak === undefined || run.backward_peak === undefined) continue;
        const peak = Math.max(measure.forward.live, measure.backward?.live ?? 0);
        const golden_ = Math.max(run.forward_peak, run.backward_peak);
        peaks.values.push({ label: where, error: Math.abs(peak - golden_) / golden_ });
      }
    }
    console.log(`      ${report(saved)}\n      ${report(peaks)}`);
    assert.ok(quantile(saved, 0.5) <= 0.005 && quantile(saved, 0.9) <= 0.03, report(saved));
    assert.ok(quantile(peaks, 0.5) <= 0.01 && quantile(peaks, 0.9) <= 0.05, report(peaks));
  });

  it("grows linearly with the number of layers", () => {
    const steps = (depth: number): number => {
      const golden = goldenModels().find(({ file }) => file === "checkpointed.py");
      const run = golden?.runs.find(({ device, batch }) => device === "cpu" && batch === 2);
      assert.ok(golden && run);
      const { program, model } = buildGolden(
        { ...golden, model: `Decoder(depth=${depth}, dim=16, heads=2)` },
        "cpu",
      );
      runStep(program, model, stepOf(golden, run));
      assert.deepEqual(program.noted(), []);
      return program.interpreter.steps;
    };
    const [ten, hundred, thousand] = [steps(10), steps(100), steps(1000)];
    const perLayer = (hundred - ten) / 90;
    assert.ok(Math.abs((thousand - hundred) / 900 / perLayer - 1) < 0.001, `${ten} ${hundred} ${thousand}`);
  });

  it("takes little time for a model once warm", () => {
    const times = goldenModels().map((golden) => {
      const [run] = golden.runs;
      assert.ok(run);
      const started = process.cpuUsage();
      runGolden(golden, run);
      const { user, system } = process.cpuUsage(started);
      return { name: golden.file, milliseconds: (user + system) / 1000 };
    });
    times.sort((a, b) => a.milliseconds - b.milliseconds);
    const [median, slowest] = [times[times.length >> 1], times.at(-1)];
    console.log(
      `      processor time a model: median ${median?.milliseconds.toFixed(0)} ms, most ${slowest?.milliseconds.toFixed(0)} ms (${slowest?.name})`,
    );
    assert.equal(times.length, goldenModels().length);
  });
});
