/**
 * `npm run coverage -- DIR…`: for every class with a forward, whether its figures are a number, a lower bound and why, or
 * nothing and why; then the shares and the most frequent reasons. `--quiet` prints the end only.
 */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { estimateModule, type ModelEstimate } from "../server/src/memory/estimate";
import { unknownReasons } from "../server/src/messages/estimate";
import { render } from "../server/src/messages/message";
import { parseModule } from "../server/src/python/parse";
import { buildScopes } from "../server/src/python/scope";
import { importResolver } from "../server/src/workspace/imports";
import { loadParser } from "../test/support/parser";

type Outcome = "number" | "number of an instance" | "lower bound" | "nothing" | "not a module";

const counts = new Map<Outcome, number>();
const reasonCounts = new Map<string, number>();
let slowest = { file: "", milliseconds: 0 };

function pythonFiles(place: string): string[] {
  if (place.endsWith(".py")) return [place];
  return readdirSync(place, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".py"))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
}

function reasonsOf(estimate: ModelEstimate | undefined): string[] {
  return (estimate?.unknown ?? [])
    .filter(({ reason }) => reason.text !== unknownReasons.input)
    .map(({ reason }) => render(reason, "en"));
}

function outcomeOf(estimate: ModelEstimate | undefined): Outcome {
  if (estimate === undefined) return "not a module";
  if (estimate.notBuilt === true) return "nothing";
  if (!estimate.complete) return "lower bound";
  return estimate.example === undefined ? "number" : "number of an instance";
}

/** Reasons that differ in names only are one. */
function general(reason: string): string {
  return reason.replace(/`[^`]*` cannot be built: argument `[^`]*`/, "cannot be built: an argument");
}

function add<Key>(map: Map<Key, number>, key: Key): void {
  map.set(key, (map.get(key) ?? 0) + 1);
}

function cover(file: string, root: string, quiet: boolean): void {
  const parsed = parseModule(readFileSync(file, "utf8"));
  const { module } = parsed;
  const begin = performance.now();
  const estimates = estimateModule(
    module,
    buildScopes(module),
    {},
    {
      resolveImport: importResolver(file, { root }),
    },
  );
  for (const node of module.body) {
    if (node.kind !== "ClassDefinition") continue;
    if (!node.body.some((one) => one.kind === "FunctionDefinition" && one.name.id === "forward")) continue;
    const estimate = estimates.ofClass(node.name.id);
    const outcome = outcomeOf(estimate);
    add(counts, outcome);
    const reasons = reasonsOf(estimate);
    if (outcome !== "number") for (const reason of new Set(reasons.map(general))) add(reasonCounts, reason);
    if (quiet) continue;
    const figure = estimate === undefined || estimate.notBuilt ? "" : ` ${estimate.parameters.count}`;
    const example = estimate?.example === undefined ? "" : ` (${estimate.example})`;
    console.log(`${file}: ${node.name.id}: ${outcome}${figure}${example} ${reasons.join("; ")}`.trimEnd());
  }
  const milliseconds = performance.now() - begin;
  if (milliseconds > slowest.milliseconds) slowest = { file, milliseconds };
}

const mostReasons = 25;

async function main(): Promise<void> {
  await loadParser();
  const args = process.argv.slice(2);
  const quiet = args.includes("--quiet");
  for (const place of args.filter((one) => !one.startsWith("--"))) {
    const root = packageRoot(path.resolve(place));
    for (const file of pythonFiles(path.resolve(place))) cover(file, root, quiet);
  }
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  console.log(`\n${total} classes with a forward`);
  for (const [outcome, count] of counts) {
    console.log(`${outcome}: ${count} (${((100 * count) / total).toFixed(1)} %)`);
  }
  console.log("\nmost frequent reasons:");
  const frequent = [...reasonCounts].sort((a, b) => b[1] - a[1]).slice(0, mostReasons);
  for (const [reason, count] of frequent) console.log(`${String(count).padStart(5)}  ${reason}`);
  console.log(`\nslowest: ${slowest.file}, ${Math.round(slowest.milliseconds)} ms`);
}

/** The folder that a package's top folder lies in. */
function packageRoot(place: string): string {
  let folder = place.endsWith(".py") ? path.dirname(place) : place;
  const isPackage = (one: string): boolean => readdirSync(one).includes("__init__.py");
  while (isPackage(folder)) folder = path.dirname(folder);
  return folder;
}

void main();
