/**
 * What an estimate costs: for every model of `test/goldens/models` as its header sets it up, milliseconds to the first
 * figure and to all answers; then the same for models of growing depth, and the answers to the panel's controls. A program
 * of its own (`npm run bench -- --estimates`), so that no check warms it up.
 */
import { readdirSync } from "node:fs";
import path from "node:path";
import { readHeader } from "../../server/src/directives/header";
import { estimateModule, type Estimates } from "../../server/src/memory/estimate";
import type { TrainingSetup } from "../../server/src/memory/setup";
import type { SetupChanges } from "../../server/src/memory/what-if";
import { parseModule } from "../../server/src/python/parse";
import { buildScopes } from "../../server/src/python/scope";
import { modelText } from "../support/goldens";
import { loadParser } from "../support/parser";
import { median, printRow, timed } from "./programs";

const warmUps = 2;
const runs = 7;

interface Subject {
  readonly name: string;
  readonly text: string;
}

interface Cost {
  readonly name: string;
  readonly first: number;
  readonly all: number;
}

const folder = path.join(__dirname, "../goldens/models");

/** Everything that anybody asks of a file's trained model; its layers, peak and device come with the first figure. */
function askAll(estimates: Estimates): void {
  estimates.all().map(({ saved }) => saved?.perSample);
  estimates.step?.();
  estimates.largestBatch();
  estimates.whatFits();
}

function measured({ name, text }: Subject): Cost {
  const parsed = parseModule(text);
  const scopes = buildScopes(parsed.module);
  const setup: TrainingSetup = {
    device: { value: { bytes: 24 * 2 ** 30, card: undefined }, from: "default" },
    ...readHeader(parsed).setup,
  };
  const [first, all]: [number[], number[]] = [[], []];
  for (let run = -warmUps; run < runs; run++) {
    const estimates = estimateModule(parsed.module, scopes, setup);
    const toFirst = timed(() => estimates.all());
    const toAll = toFirst + timed(() => askAll(estimates));
    if (run < 0) continue;
    first.push(toFirst);
    all.push(toAll);
  }
  return { name, first: median(first), all: median(all) };
}

function row({ name, first, all }: Cost): void {
  printRow([name, first.toFixed(1), all.toFixed(1)]);
}

/** So many blocks one after the other. */
function deepModel(blocks: number): string {
  return `# vram: device=24GiB, batch=8, input=float32[B,64], target=int64[B]<10, loss=cross_entropy, optimizer=adamw
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inner = nn.Linear(width, 4 * width)
        self.outer = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.outer(torch.relu(self.inner(self.norm(x))))


class Deep(nn.Module):
    def __init__(self, depth=${blocks}, width=64):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)
`;
}

function controlRow(name: string, text: string, changes: (run: number) => SetupChanges): void {
  const parsed = parseModule(text);
  const estimates = estimateModule(parsed.module, buildScopes(parsed.module), readHeader(parsed).setup);
  estimates.step?.();
  const times: number[] = [];
  for (let run = 0; run < 2 * runs; run++) {
    const time = timed(() => estimates.changed?.(changes(run)));
    if (run >= warmUps) times.push(time);
  }
  printRow([name, median(times).toFixed(1), Math.max(...times).toFixed(1)]);
}

function estimatesTable(): void {
  const names = readdirSync(folder).filter((name) => name.endsWith(".py"));
  const subjects = names.map((name) => ({ name: path.basename(name, ".py"), text: modelText(name) }));
  console.log("An estimate, milliseconds of processor time (median): the first figure, and all answers");
  printRow(["model", "first", "all"]);
  subjects.forEach(measured); // warm-up
  const costs = subjects.map(measured);
  for (const cost of [...costs].sort((a, b) => b.all - a.all)) row(cost);
  row({
    name: "median",
    first: median(costs.map(({ first }) => first)),
    all: median(costs.map(({ all }) => all)),
  });
  console.log("\nThe same for so many blocks of three layers");
  for (const blocks of [100, 333, 1_000]) row(measured({ name: String(blocks), text: deepModel(blocks) }));
  console.log("\nAnswers to the panel's controls, 333 blocks: median and slowest");
  const text = deepModel(333);
  controlRow("checkpoint", text, (run) => ({ checkpointed: 10 * run }));
  controlRow("batch", text, (run) => ({ batch: 2 + 3 * run }));
  controlRow("optimizer", text, (run) => ({ optimizer: run % 2 === 0 ? "sgd" : "adam" }));
  controlRow("precision", text, (run) => ({
    precision: run % 2 === 0 ? "amp-bf16" : "bf16",
    batch: 2 + run,
  }));
}

void loadParser().then(estimatesTable);
