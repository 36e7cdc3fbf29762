/**
 * Prints how far estimates of transformers' models are from test/goldens/pretrained.json: `npx tsx scripts/pretrained.ts
 * FOLDER`, where FOLDER is the site-packages with the library. Runs of other versions than the one there are left out. The
 * exit code is 1 where a complete estimate of a step without checkpoints differs at all.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { castStates, runStep } from "../server/src/memory/evaluate/step";
import { Program } from "../server/src/memory/evaluate/program";
import { ObjectValue } from "../server/src/memory/evaluate/values";
import type { Precision } from "../server/src/memory/setup";
import { Execution } from "../server/src/memory/tape";
import { render } from "../server/src/messages/message";
import { parseModule } from "../server/src/python/parse";
import { followImports } from "../server/src/workspace/imports";
import { goldensFolder, parseSpecification, statesOf } from "../test/support/accuracy";
import { loadParser } from "../test/support/parser";

interface Run {
  readonly config: string;
  readonly model: string;
  readonly inputs: readonly string[];
  readonly adapters?: string;
  readonly parameters: number;
  readonly trainable: number;
  readonly saved: number;
  readonly forward_peak: number;
  readonly backward_peak: number;
}

interface Golden {
  readonly transformers: string;
  readonly device: "fake-cpu" | "fake-cuda";
  readonly precision: Precision;
  readonly batch: number;
  readonly runs: Readonly<Record<string, Run>>;
}

function scriptOf(name: string, { config, model, adapters }: Run): string {
  const configuration = config.slice(0, config.indexOf("("));
  const lines = [
    `from transformers import ${configuration}, ${model}`,
    "from peft import LoraConfig, get_peft_model",
    `model = ${model}(${config})`,
  ];
  if (name.endsWith("-ckpt")) lines.push("model.gradient_checkpointing_enable()");
  if (adapters !== undefined) lines.push(`model = get_peft_model(model, ${adapters})`);
  return `${lines.join("\n")}\n`;
}

/** What one run differs in, as text; empty where it does not. */
function compare(folder: string, golden: Golden, name: string, run: Run): string {
  const imports = followImports(join(folder, "script.py"), { root: folder, packages: [folder] });
  const device = golden.device === "fake-cpu" ? "cpu" : "cuda";
  const execution = new Execution({ device, attention: "auto" });
  const { module } = parseModule(scriptOf(name, run));
  const program = new Program(execution, module, undefined, { resolveImport: imports.resolve });
  const model = program.global("model");
  if (!(model instanceof ObjectValue)) return "not built";
  program.adopt(model);
  const { params, trainable } = statesOf({ program, model });
  castStates(program, model, golden.precision);
  const measure = runStep(program, model, {
    batch: golden.batch,
    inputs: run.inputs.map(parseSpecification),
    targets: [],
    loss: "model",
    precision: golden.precision,
    mode: "train",
  });
  const [noted] = program.noted();
  const fault = measure.fault ?? noted;
  if (fault !== undefined) return `at least: ${render(fault.reason, "en")}`;
  const pairs: readonly (readonly [string, number | undefined, number])[] = [
    ["parameters", params, run.parameters],
    ["trainable", trainable, run.trainable],
    ["saved", measure.saved, run.saved],
    ["forward", measure.forward.live, run.forward_peak],
    ["backward", measure.backward?.live, run.backward_peak],
  ];
  return pairs
    .filter(([, found, expected]) => found !== expected)
    .map(([what, found, expected]) => `${what} ${found} instead of ${expected}`)
    .join(", ");
}

async function main(): Promise<void> {
  const [folder = "."] = process.argv.slice(2);
  await loadParser();
  const text = readFileSync(join(goldensFolder, "pretrained.json"), "utf8");
  for (const golden of JSON.parse(text) as readonly Golden[]) {
    const about = `transformers ${golden.transformers}, ${golden.device}, ${golden.precision}`;
    if (!existsSync(join(folder, `transformers-${golden.transformers}.dist-info`))) {
      console.log(`${about}: left out, another version is installed`);
      continue;
    }
    const runs = Object.entries(golden.runs);
    let equal = 0;
    for (const [name, run] of runs) {
      const difference = compare(folder, golden, name, run);
      if (difference === "") equal++;
      else console.log(`${about}, ${name}: ${difference}`);
      if (difference !== "" && !name.endsWith("-ckpt")) process.exitCode = 1;
    }
    console.log(`${about}: ${equal} of ${runs.length} equal to the byte`);
  }
}

void main();
