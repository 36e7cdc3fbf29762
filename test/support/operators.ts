/**
 * Runs one row of goldens/ops.json the way measure_ops.py did: float inputs are views of leaves that require a gradient,
 * the call is a line of Python, and every byte is counted before, during and after.
 */
import { parseModule } from "../../server/src/python/parse";
import { CallArguments } from "../../server/src/memory/evaluate/arguments";
import { flatten } from "../../server/src/memory/evaluate/losses";
import { Program } from "../../server/src/memory/evaluate/program";
import { Execution, nowhere } from "../../server/src/memory/tape";
import { isFloating, Tensor, type Dtype } from "../../server/src/memory/tensor";
import { isUnknown } from "../../server/src/memory/unknown";
import type { GraphNode } from "../../server/src/memory/graph";
import { render } from "../../server/src/messages/message";
import type { AttentionBackend } from "../../server/src/memory/setup";

export interface OperatorGolden {
  name: string;
  setup: string | null;
  call: string;
  inputs: string[];
}

export interface MeasuredCall {
  /** `float32[2,8]`, nested as the output is. */
  out: string[];
  saved: number;
  forwardExtra: number;
  backwardExtra: number | undefined;
  /** What the call leaves behind: results, and what the graph keeps. */
  kept: number;
  /** The storage of the first result. */
  result: number;
  nodes: string[];
}

export type CallMode = "grad" | "frozen" | "first" | "autocast";

export interface CallOptions {
  readonly device: "cpu" | "cuda";
  readonly mode: CallMode;
  readonly attention: AttentionBackend | "auto";
  /** The gradient of the output is there before backward begins, and stays. */
  readonly holdsGradient?: boolean;
}

const names = "abcdefg";

export function describeTensor(tensor: Tensor): string {
  return `${tensor.dtype}[${tensor.shape.join(",")}]`;
}

/** Answers a text that says why when the row could not be run. */
export function runCall(golden: OperatorGolden, options: CallOptions): MeasuredCall | string {
  const execution = new Execution({ device: options.device, attention: options.attention });
  const parameters = names.slice(0, golden.inputs.length).split("").join(", ");
  const source = [
    "import torch",
    "import torch.nn as nn",
    "import torch.nn.functional as F",
    `m = ${golden.setup ?? "nn.Identity()"}`,
    `def run(${parameters}):`,
    `    return ${golden.call}`,
    "",
  ].join("\n");
  const parsed = parseModule(source);
  const program = new Program(execution, parsed.module);
  if (options.mode === "frozen") for (const parameter of execution.parameters) parameter.requiresGrad = false;
  const wantsGrad = options.mode !== "first";
  const inputs = golden.inputs.map((text) => makeInput(execution, text, wantsGrad));
  const run = program.global("run");
  if (run === undefined) return "no function";
  execution.phase = "forward";
  const start = execution.live;
  execution.startPeak();
  if (options.mode === "autocast") execution.pushAutocast({ enabled: true, dtype: "bfloat16" });
  const answer = program.call(run, new CallArguments(inputs));
  if (options.mode === "autocast") execution.popAutocast();
  if (isUnknown(answer)) return render(answer.reason, "en");
  const noted = program.noted()[0];
  if (noted !== undefined) return render(noted.reason, "en");
  program.interpreter.references.retain(answer);
  program.interpreter.references.releaseTo(0);
  const outputs = flatten(answer).filter((value): value is Tensor => value instanceof Tensor);
  const forwardExtra = execution.takePeak().live - start;
  const saved = execution.savedBytes + execution.savedInputBytes;
  const head = outputs.find((output) => output.node !== undefined);
  const kept = execution.live - start;
  const result = outputs[0]?.storage.bytes ?? 0;
  const measured = { out: outputs.map(describeTensor), saved, forwardExtra, kept, result };
  if (head?.node === undefined) return { ...measured, backwardExtra: undefined, nodes: [] };
  const nodes = graphOf(head.node);
  // measure_ops.py kept a name on the storage saved last until backward was over.
  holdLast(execution, nodes);
  const gradient = options.holdsGradient === true ? execution.allocate(head.shape, head.dtype) : undefined;
  const before = execution.live;
  execution.startPeak();
  execution.backward(head, gradient === undefined ? {} : { gradient });
  return {
    ...measured,
    backwardExtra: execution.takePeak().live - before,
    nodes: nodes.map((node) => node.name).filter((name) => name !== "AccumulateGrad"),
  };
}

function makeInput(execution: Execution, text: string, wantsGrad: boolean): Tensor {
  const match = /^(\w+)\[([^\]]*)\](?:<(\d+))?$/.exec(text);
  const dtype = (match?.[1] ?? "float32") as Dtype;
  const shape = (match?.[2] ?? "").split(",").filter(Boolean).map(Number);
  const leaf = execution.input(shape, dtype, match?.[3] === undefined ? undefined : Number(match[3]));
  if (!isFloating(dtype) || !wantsGrad) return leaf;
  leaf.requiresGrad = true;
  const view = execution.call("Tensor.view_as", [leaf, leaf], {}, nowhere);
  return view instanceof Tensor ? view : leaf;
}

function graphOf(root: GraphNode): GraphNode[] {
  const seen = new Set([root]);
  for (const node of seen) for (const edge of node.edges) if (edge !== undefined) seen.add(edge.node);
  return [...seen];
}

/** Holds what the node made last saved last. */
function holdLast(execution: Execution, nodes: readonly GraphNode[]): void {
  const saved = nodes
    .toSorted((a, b) => b.sequence - a.sequence)
    .map((node) => node.saved.findLast((entry) => entry !== undefined))
    .find((entry) => entry !== undefined);
  if (saved?.kind === "stored") execution.holdSaved(saved.storage);
}
