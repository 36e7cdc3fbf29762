import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  buildGolden,
  goldensFolder,
  peakWith,
  readGoldens,
  runGolden,
  statesOf,
  summarise,
  type ConfigurationGolden,
  type RunGolden,
} from "../../support/accuracy";
import { loadParser } from "../../support/parser";
import { parseModule, type ParsedModule } from "../../../server/src/python/parse";

/** BCELoss under autocast is an error in PyTorch itself. */
const refused = /binary_cross_entropy is an error under autocast/;

/** One run of each device and precision, the smallest micro-batch that has peaks: all of them take a minute. */
function chosenRuns({ runs }: ConfigurationGolden): RunGolden[] {
  const chosen = new Map<string, RunGolden>();
  for (const run of runs) {
    if (run.saved === null) continue;
    const key = `${run.device} ${run.precision} ${run.attention ?? ""}`;
    const old = chosen.get(key);
    const better =
      old === undefined ||
      (run.optimizers !== undefined && old.optimizers === undefined) ||
      ((run.optimizers === undefined) === (old.optimizers === undefined) && run.batch < old.batch);
    if (better) chosen.set(key, run);
  }
  return [...chosen.values()];
}

describe("estimates against PyTorch", () => {
  const saved: number[] = [];
  const peaks: number[] = [];

  before(loadParser);

  for (const [file, configurations] of Object.entries(readGoldens())) {
    configurations.forEach((configuration, i) => {
      describe(`${file} ${configuration.model || `#${i}`}`, () => {
        let parsed: ParsedModule;

        before(() => {
          parsed = parseModule(readFileSync(join(goldensFolder, "models", file), "utf8"));
        });

        it("has PyTorch's parameters and buffers to the byte", () => {
          const built = buildGolden(parsed, configuration.model, { device: "cpu", attention: "auto" });
          if (typeof built === "string") assert.fail(built);
          assert.deepEqual(statesOf(built), {
            params: configuration.params,
            trainable: configuration.trainable,
            paramBytes: configuration.param_bytes,
            bufferBytes: configuration.buffer_bytes,
          });
        });

        for (const run of chosenRuns(configuration)) {
          it(`${run.device} ${run.precision} ${run.attention ?? ""} B=${run.batch}: within 3 % saved, 5 % peak`, () => {
            const found = runGolden(parsed, configuration, run);
            if (typeof found === "string") {
              assert.match(found, refused);
              return;
            }
            const golden = run.saved ?? 0;
            const error = (found.measure.saved - golden) / golden;
            saved.push(error);
            assert.ok(Math.abs(error) <= 0.03, `saved ${found.measure.saved} instead of ${golden}`);
            for (const [name, { peak, phase, state_bytes }] of Object.entries(run.optimizers ?? {})) {
              const mine = peakWith(found, name);
              assert.ok(mine !== undefined);
              assert.equal(mine.state, state_bytes);
              peaks.push((mine.bytes - peak) / peak);
              assert.ok(
                Math.abs(mine.bytes - peak) <= 0.05 * peak,
                `${name}: ${mine.bytes} instead of ${peak}`,
              );
              if (mine.bytes === peak) assert.equal(mine.phase, phase);
            }
          });
        }
      });
    });
  }

  describe("all together", () => {
    it("keeps the promise: saved median 0.5 %, 90th percentile 3 %; peak 1 % and 5 %", () => {
      assert.ok(saved.length > 100 && peaks.length > 400, `${saved.length} runs, ${peaks.length} peaks`);
      const ofSaved = summarise(saved);
      const ofPeaks = summarise(peaks);
      assert.ok(ofSaved.median <= 0.005 && ofSaved.p90 <= 0.03, JSON.stringify(ofSaved));
      assert.ok(ofPeaks.median <= 0.01 && ofPeaks.p90 <= 0.05, JSON.stringify(ofPeaks));
    });
  });
});
