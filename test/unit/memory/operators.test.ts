import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadParser } from "../../support/parser";
import { runCall, type CallMode, type OperatorGolden } from "../../support/operators";
import type { AttentionBackend } from "../../../server/src/memory/setup";

interface Figures {
  out: unknown;
  saved_bytes: number;
  forward_extra: number;
  backward_extra?: number;
  error?: string;
}

type Row = OperatorGolden & Record<string, unknown>;

/** The operators, and expressions as people write them. */
const ops = ["ops.json", "ops_more.json"].flatMap(
  (file) => (JSON.parse(readFileSync(join(__dirname, "../../goldens", file), "utf8")) as { ops: Row[] }).ops,
);

/**
 * The gradients of the larger and the smaller of two tensors: PyTorch 2.14 (CUDA here) fills copies, where 2.13 (CPU here)
 * filled in place. The estimates follow 2.14 on both devices, which takes the more.
 */
const asInNewerVersion: ReadonlySet<string> = new Set([
  "torch.maximum",
  "minimum clamp",
  "torch.fmax(a, b)",
  "torch.fmin(a, b)",
  "torch.max(a, b) of float32[4,6], float32[4,6]",
  "torch.min(a, b) of float32[4,6], float32[6]",
]);

function figuresOf(row: Row, device: string, column: string): Figures | undefined {
  const own = row[`${asInNewerVersion.has(row.name) ? "cuda" : device} ${column}`];
  const found = own === "same" ? row[`cpu ${column}`] : own;
  return typeof found === "object" && found !== null ? (found as Figures) : undefined;
}

const columns: readonly {
  device: "cpu" | "cuda";
  column: string;
  mode: CallMode;
  attention: AttentionBackend | "auto";
}[] = [
  { device: "cpu", column: "grad", mode: "grad", attention: "auto" },
  { device: "cpu", column: "frozen", mode: "frozen", attention: "auto" },
  { device: "cpu", column: "first", mode: "first", attention: "auto" },
  { device: "cuda", column: "grad", mode: "grad", attention: "auto" },
  { device: "cuda", column: "frozen", mode: "frozen", attention: "auto" },
  { device: "cuda", column: "first", mode: "first", attention: "auto" },
  { device: "cuda", column: "autocast", mode: "autocast", attention: "auto" },
  { device: "cuda", column: "grad math", mode: "grad", attention: "math" },
  { device: "cuda", column: "autocast math", mode: "autocast", attention: "math" },
];

/**
 * Rows that were measured under a dispatch mode, in which PyTorch avoids some in-place kernels (isTensorSubclassLike in
 * FunctionsManual.cpp and Linear.cpp). Without one, the profiler's allocator events on the CPU show these bytes less.
 */
const outOfPlaceOnlyWhenMeasured: Readonly<
  Record<string, { field: "forwardExtra" | "backwardExtra"; less: number; autocast?: number }>
> = {
  "Linear on non-contiguous": { field: "forwardExtra", less: 4096, autocast: 2048 },
  "MultiheadAttention need_weights=False": { field: "forwardExtra", less: 0, autocast: 4096 },
  "MultiheadAttention dropout": { field: "forwardExtra", less: 0, autocast: 4096 },
  "index with tensor": { field: "backwardExtra", less: 16384 },
  index_select: { field: "backwardExtra", less: 16384 },
  gather: { field: "backwardExtra", less: 128 },
  "take_along_dim broadcast": { field: "backwardExtra", less: 100 },
  "max dim": { field: "backwardExtra", less: 16384 },
  topk: { field: "backwardExtra", less: 16384 },
  sort: { field: "backwardExtra", less: 16384 },
  "torch.msort(a) of float32[4,6]": { field: "backwardExtra", less: 96 },
  "torch.nanquantile(a, 0.5, dim=1) of float32[4,6]": { field: "backwardExtra", less: 96 },
  "torch.quantile(a, 0.5, dim=0, interpolation='nearest') of float32[4,6]": {
    field: "backwardExtra",
    less: 144,
  },
  BCEWithLogitsLoss: { field: "backwardExtra", less: 80 },
  "bce logits weight": { field: "backwardExtra", less: 128 },
  // Its backward computes in three tensors inside the kernel (allocated.json).
  SoftMarginLoss: { field: "backwardExtra", less: -160 },
  "soft margin": { field: "backwardExtra", less: -256 },
};

/**
 * What is left: a bias gradient that two parameters share is copied for one of them a moment earlier or later, and label
 * smoothing without a graph. The largest share by which a row may differ.
 */
const tolerances: Readonly<Record<string, number>> = {
  "LSTM 2 layers dropout": 0.02,
  "LSTM bidirectional": 0.02,
  LSTMCell: 0.03,
  "CrossEntropyLoss label smoothing": 0.06,
};

/**
 * Rows whose CUDA figures are another thing than what happens on a card, or than PyTorch 2.13; the CPU's are compared.
 */
const measuredOtherwise: readonly {
  readonly rows: readonly string[];
  readonly column: RegExp;
  why: string;
}[] = [
  {
    why: "without a card PyTorch takes cuDNN for a build that cannot convolve bfloat16, and its slow kernel leaves no channels last",
    column: /autocast/,
    rows: [
      "Conv2d channels-last by permute",
      "channels_last conv",
      "Conv2d(8, 12, 3, padding=1).to(memory_format=torch.channels_last) of float32[2,8,12,10]",
      "Conv2d(8, 12, 3, padding=1).to(memory_format=torch.channels_last) of float32[2,8,12,10], m(a.contiguous(memory_format=torch.channels_last))",
      "Conv2d(8, 8, 3, padding=1, groups=8).to(memory_format=torch.channels_last) of float32[2,8,12,10]",
      "ConvTranspose2d(8, 12, 3).to(memory_format=torch.channels_last) of float32[2,8,12,10]",
      "ConvTranspose2d(8, 12, 3).to(memory_format=torch.channels_last) of float32[2,8,12,10], m(a.contiguous(memory_format=torch.channels_last))",
    ],
  },
  {
    why: "the wrapper that chooses the kernel for the measurement does not see autocast, so that keys stay in single precision",
    column: /autocast/,
    rows: [
      "MultiheadAttention(16, 2, add_bias_kv=True) of float32[64,2,16], float32[64,64], m(a, a, a, attn_mask=b.detach(), need_weights=False)[0]",
      "MultiheadAttention(16, 2, add_bias_kv=True) of float32[64,2,16], bool[64,64], m(a, a, a, attn_mask=b, need_weights=False)[0]",
      "MultiheadAttention(16, 2, add_bias_kv=True, batch_first=True) of float32[2,64,16], float32[64,64], bool[2,64], m(a, a, a, attn_mask=b.detach(), key_padding_mask=c, need_weights=False)[0]",
    ],
  },
  { why: "that wrapper repeats no keys for groups of queries", column: /./, rows: ["sdpa gqa"] },
  {
    why: "PyTorch 2.14 makes row-major copies of channels-last input inside the kernel; 2.13 before it",
    column: /./,
    rows: ["GroupNorm(2, 8) of float32[2,8,12,10], m(a.contiguous(memory_format=torch.channels_last))"],
  },
  {
    why: "PyTorch 2.14 makes one more tensor of places",
    column: /./,
    rows: [
      "torch.nanquantile(a, 0.5, dim=1) of float32[4,6]",
      "torch.quantile(a, 0.5, dim=0, interpolation='nearest') of float32[4,6]",
    ],
  },
  { why: "its gradients are formulas of PyTorch 2.13", column: /./, rows: ["clamp tensors"] },
];

function isMeasuredOtherwise(name: string, device: string, column: string): boolean {
  return (
    device === "cuda" &&
    measuredOtherwise.some(({ rows, column: columns }) => rows.includes(name) && columns.test(column))
  );
}

function within(actual: number | undefined, golden: unknown, tolerance: number): number | undefined {
  if (actual === undefined || typeof golden !== "number") return actual;
  return Math.abs(actual - golden) <= tolerance * golden ? golden : actual;
}

function expected(row: Row, figures: Figures, mode: CallMode): Record<string, unknown> {
  const result = {
    out: [figures.out].flat(3),
    saved: figures.saved_bytes,
    forwardExtra: figures.forward_extra,
    backwardExtra: figures.backward_extra,
  };
  const known = outOfPlaceOnlyWhenMeasured[row.name];
  if (known === undefined || result[known.field] === undefined) return result;
  const less = mode === "autocast" ? (known.autocast ?? known.less) : known.less;
  return { ...result, [known.field]: (result[known.field] ?? 0) - less };
}

describe("operators against PyTorch", () => {
  before(loadParser);

  for (const row of ops) {
    for (const { device, column, mode, attention } of columns) {
      const figures = figuresOf(row, device, column);
      if (figures === undefined || figures.error !== undefined) continue;
      if (isMeasuredOtherwise(row.name, device, column)) continue;
      it(`${row.name}: ${device} ${column}`, () => {
        const measured = runCall(row, { device, mode, attention });
        if (typeof measured === "string") assert.fail(measured);
        const { out, saved } = measured;
        const golden = expected(row, figures, mode);
        const tolerance = tolerances[row.name] ?? 0;
        const forwardExtra = within(measured.forwardExtra, golden.forwardExtra, tolerance);
        const backwardExtra = within(measured.backwardExtra, golden.backwardExtra, tolerance);
        assert.deepEqual({ out, saved, forwardExtra, backwardExtra }, golden);
      });
    }
  }
});
