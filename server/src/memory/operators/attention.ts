/**
 * Attention: scaled_dot_product_attention with its kernels, and nn.MultiheadAttention's function. The kernel decides what
 * is kept: `math` keeps the weights of every head, `flash` and `efficient` their logarithmic sums only
 * (aten/src/ATen/native/transformers/attention.cpp).
 */
import { isFloating, type Tensor } from "../tensor";
import { isTensor, numberOf, type Argument } from "./argument";
import { autocastTo, cast, differentiable, needs } from "./autograd";
import type { Frame } from "./frame";
import { emptyLike } from "./kernels";
import { linear, matmul } from "./matrix";
import { nativeDropout } from "./normalisation";
import type { OperatorCall, OperatorRow } from "./operator";
import { elementwiseOp } from "./pointwise";
import { shapesDoNotFit } from "./reasons";
import { reduce, softmax } from "./reductions";
import { cat } from "./joining";
import { contiguousOf, expand, permute, reshape, select, squeeze, transpose, unsqueeze, view } from "./views";

const F = "torch.nn.functional";

interface Attention {
  readonly query: Tensor;
  readonly key: Tensor;
  readonly value: Tensor;
  readonly mask: Tensor | undefined;
  readonly dropout: boolean;
  readonly causal: boolean;
}

/** `math`, `flash` or `efficient`; on the CPU there is one fused kernel, which takes no dropout and trains no mask. */
function chooseKernel(frame: Frame, row: Attention): "math" | "flash" | "efficient" | "cpu" {
  const { execution } = frame;
  if (row.query.shape.length !== 4 || !liesAsFused(row, execution.device)) return "math";
  if (execution.device === "cpu") return row.dropout || needs(execution, row.mask) ? "math" : "cpu";
  if (execution.attention !== "auto") {
    const half = row.query.dtype === "float16" || row.query.dtype === "bfloat16";
    // The flash kernel knows neither masks nor fp32: PyTorch falls back to the efficient one.
    if (execution.attention === "flash" && (!half || row.mask !== undefined)) return "efficient";
    return execution.attention;
  }
  const half = row.query.dtype === "float16" || row.query.dtype === "bfloat16";
  return half && row.mask === undefined && (row.query.shape.at(-1) ?? 0) <= 256 ? "flash" : "efficient";
}

/**
 * Whether the innermost dimension of query, key and value, on CUDA also that of the mask as it is given, has a stride of 1:
 * every fused kernel asks for that (check_last_dim_stride_equals_1_dense in sdp_utils_cpp.h). Heads that are reshaped out of
 * a convolution's channels have not, and their weights are kept.
 */
function liesAsFused({ query, key, value, mask }: Attention, device: "cpu" | "cuda"): boolean {
  const asked = [query, key, value, device === "cuda" ? mask : undefined];
  return asked.every((tensor) => tensor?.shape.at(-1) === 1 || (tensor?.strides.at(-1) ?? 1) === 1);
}

/** `F.scaled_dot_product_attention`. */
function attend(frame: Frame, given: Attention, groups: number): Tensor {
  const mode = frame.execution.autocast;
  const low = (tensor: Tensor): Tensor =>
    mode === undefined ? tensor : autocastTo(frame, tensor, mode.dtype, mode);
  let row: Attention = {
    ...given,
    query: low(given.query),
    key: low(given.key),
    value: low(given.value),
    mask: given.mask === undefined ? undefined : low(given.mask),
  };
  const chosen = chooseKernel(frame, row);
  row = { ...row, mask: floatMask(frame, row) };
  // Of CUDA's kernels flash alone knows grouped queries (check_batch_size_and_num_heads_dense in sdp_utils.cpp).
  const kernel = groups > 1 && chosen === "efficient" ? "math" : chosen;
  if (groups > 1 && kernel === "math")
    row = { ...row, key: repeatHeads(frame, row.key, groups), value: repeatHeads(frame, row.value, groups) };
  if (frame.execution.device === "cuda") frame.execution.attentionKernels.push(kernel);
  return kernel === "math" ? mathAttention(frame, row) : fusedAttention(frame, row, kernel);
}

/** Grouped queries: every key and value head serves several queries. */
function repeatHeads(frame: Frame, tensor: Tensor, count: number): Tensor {
  const wide = unsqueeze(frame, tensor, 2);
  const expanded = expand(
    frame,
    wide,
    wide.shape.map((size, i) => (i === 2 ? count : size)),
  );
  return reshape(
    frame,
    expanded,
    tensor.shape.map((size, i) => (i === 1 ? size * count : size)),
  );
}

/** A boolean mask becomes 0 and -inf in the query's dtype. */
function floatMask(frame: Frame, row: Attention): Tensor | undefined {
  if (row.mask === undefined) return undefined;
  if (row.mask.dtype !== "bool") return cast(frame, row.mask, row.query.dtype);
  return emptyLike(frame, row.mask, row.query.dtype);
}

/** Flash, efficient and the CPU's kernel: input, output and one number a query row are kept. */
function fusedAttention(frame: Frame, row: Attention, kernel: "flash" | "efficient" | "cpu"): Tensor {
  const { query, key, value } = row;
  const [batch = 1, heads = 1, length = 1] = query.shape;
  const keys = key.shape.at(-2) ?? 1;
  let mask = kernel === "flash" ? undefined : row.mask;
  // preprocess_mask in sdp_utils: the efficient kernel sees it spread over batch and heads, and so is its gradient
  if (kernel === "efficient" && mask !== undefined) mask = expand(frame, mask, [batch, heads, length, keys]);
  const width = value.shape.at(-1) ?? 1;
  // The efficient kernel lays its result out as [batch, length, heads, width], the others as the query lies.
  const result =
    kernel === "efficient" || width !== query.shape.at(-1)
      ? frame.empty([batch, heads, length, width], query.dtype, headsInside([batch, heads, length, width]))
      : emptyLike(frame, query);
  // The efficient kernel rounds the rows up to 32 (kAlignLSE in mem_eff_attention).
  const rows = kernel === "efficient" ? Math.ceil(length / 32) * 32 : length;
  const sums = frame.empty([batch, heads, rows], "float32");
  frame.execution.noteProducts(batch * heads * length * keys * ((query.shape.at(-1) ?? 1) + width));
  const random =
    kernel === "cpu"
      ? []
      : kernel === "flash"
        ? [frame.empty([2], "int64"), frame.empty([], "int64")]
        : [frame.empty([], "int64"), frame.empty([], "int64")];
  const name = {
    flash: "ScaledDotProductFlashAttentionBackward0",
    efficient: "ScaledDotProductEfficientAttentionBackward0",
    cpu: "ScaledDotProductFlashAttentionForCpuBackward0",
  }[kernel];
  const inputs = [query, key, value];
  differentiable(frame, {
    name,
    inputs: kernel === "efficient" ? [...inputs, mask] : inputs,
    outputs: [result],
    saved: [...inputs, mask, sums, result, ...random],
    backward: (inner, [gradient], saved, wanted) => {
      if (gradient === undefined) return [];
      return [0, 1, 2, 3].map((i) => {
        const source = saved[i];
        if (source === undefined) return undefined;
        if (i === 3) return wanted[i] === true ? inner.empty(source.shape, gradient.dtype) : undefined;
        const made =
          kernel === "flash"
            ? emptyLike(inner, source, gradient.dtype)
            : inner.empty(source.shape, gradient.dtype, headsInside(source.shape));
        return wanted[i] === true ? made : undefined;
      });
    },
  });
  return result;
}

/** Strides of a tensor [batch, heads, length, width] that lies as [batch, length, heads, width]. */
function headsInside(shape: readonly number[]): number[] {
  const [, heads = 1, length = 1, width = 1] = shape;
  return [length * heads * width, width, heads * width, 1];
}

/** _scaled_dot_product_attention_math: query and key are scaled, the weights of every head are kept; fp32 inside on every device. */
function mathAttention(frame: Frame, row: Attention): Tensor {
  return frame.scoped((inner) => mathAttentionIn(inner, row));
}

function mathAttentionIn(frame: Frame, row: Attention): Tensor {
  const half = row.query.dtype === "float16" || row.query.dtype === "bfloat16";
  const wide = (tensor: Tensor): Tensor => (half ? cast(frame, tensor, "float32") : tensor);
  const [query, key, value] = [wide(row.query), wide(row.key), wide(row.value)];
  const scaled = elementwiseOp(frame, "mul", [query, 1]);
  let { mask } = row;
  if (row.causal) mask = frame.empty([query.shape.at(-2) ?? 1, key.shape.at(-2) ?? 1], query.dtype);
  const keyT = transpose(frame, key);
  // the scaled key lives as long as the product, and so do the views of both
  const scores = frame.scoped((inner) => plainMatmul(inner, scaled, elementwiseOp(inner, "mul", [keyT, 1])));
  if (mask !== undefined) elementwiseOp(frame, "add", [scores, mask], { inPlace: true });
  const weights = softmax(frame, scores, "softmax");
  frame.free(scores);
  const dropped = row.dropout ? dropWeights(frame, weights) : weights;
  if (dropped !== weights) frame.free(weights);
  const result = cast(frame, plainMatmul(frame, dropped, value), row.query.dtype);
  // The weights are returned too, in the query's dtype; nobody takes them.
  cast(frame, dropped, row.query.dtype);
  return result;
}

/** Inside the kernel autocast is off. */
function plainMatmul(frame: Frame, a: Tensor, b: Tensor): Tensor {
  const { execution } = frame;
  const mode = execution.autocast;
  if (mode === undefined) return matmul(frame, a, b);
  execution.suspendAutocast();
  try {
    return matmul(frame, a, b);
  } finally {
    execution.resumeAutocast();
  }
}

function dropWeights(frame: Frame, weights: Tensor): Tensor {
  if (frame.execution.device === "cuda") return nativeDropout(frame, weights);
  return frame.scoped((inner) => elementwiseOp(inner, "mul", [weights, emptyLike(inner, weights)]));
}

function run(call: OperatorCall): Tensor {
  const query = call.tensor("query");
  const key = call.tensor("key");
  const value = call.tensor("value");
  const gqa = call.boolean("enable_gqa");
  const groups = gqa ? (query.shape.at(-3) ?? 1) / (key.shape.at(-3) ?? 1) : 1;
  if (query.shape.at(-1) !== key.shape.at(-1) || key.shape.at(-2) !== value.shape.at(-2)) {
    call.fail(shapesDoNotFit(call.name, [query.shape, key.shape, value.shape]));
  }
  const row: Attention = {
    query,
    key,
    value,
    mask: call.optionalTensor("attn_mask"),
    dropout: (numberOf(call.values.dropout_p) ?? 0) > 0,
    causal: call.boolean("is_causal"),
  };
  return attend(call.frame, row, groups);
}

// --- nn.MultiheadAttention ------------------------------------------------------------------------------------------

interface Projections {
  readonly query: Tensor;
  readonly key: Tensor;
  readonly value: Tensor;
}

/** The three projections: one product for self-attention, two for keys that are the values, else three. */
function project(call: OperatorCall, { query, key, value }: Projections): Projections {
  const { frame } = call;
  const width = query.shape.at(-1) ?? 1;
  const bias = call.optionalTensor("in_proj_bias");
  if (call.boolean("use_separate_proj_weight")) {
    const biases = bias === undefined ? [] : chunks(call, bias, 3);
    return {
      query: linear(frame, query, call.tensor("q_proj_weight"), biases[0]),
      key: linear(frame, key, call.tensor("k_proj_weight"), biases[1]),
      value: linear(frame, value, call.tensor("v_proj_weight"), biases[2]),
    };
  }
  const weight = call.tensor("in_proj_weight");
  if (key === value && query === key) {
    const [first, second, third] = packed(call, linear(frame, query, weight, bias), width, 3);
    return required(call, first, second, third);
  }
  if (key === value) {
    const [own, others] = splitRows(call, weight, [width, 2 * width]);
    const [ownBias, otherBias] = bias === undefined ? [] : splitRows(call, bias, [width, 2 * width]);
    const projected = own === undefined ? undefined : linear(frame, query, own, ownBias);
    const joint = others === undefined ? undefined : linear(frame, key, others, otherBias);
    const [second, third] = joint === undefined ? [] : packed(call, joint, width, 2);
    return required(call, projected, second, third);
  }
  const weights = chunks(call, weight, 3);
  const biases = bias === undefined ? [] : chunks(call, bias, 3);
  const each = [query, key, value].map((tensor, i) => {
    const own = weights[i];
    return own === undefined ? undefined : linear(frame, tensor, own, biases[i]);
  });
  return required(call, each[0], each[1], each[2]);
}

function required(
  call: OperatorCall,
  query: Tensor | undefined,
  key: Tensor | undefined,
  value: Tensor | undefined,
): Projections {
  if (query === undefined || key === undefined || value === undefined) return call.notUnderstood("query");
  return { query, key, value };
}

function chunks(call: OperatorCall, tensor: Tensor, count: number): Tensor[] {
  const parts = call.call("torch.chunk", [tensor, count]);
  return Array.isArray(parts) ? (parts as readonly Argument[]).filter(isTensor) : [];
}

function splitRows(call: OperatorCall, tensor: Tensor, sizes: readonly number[]): Tensor[] {
  const parts = call.call("Tensor.split", [tensor, [...sizes]]);
  return Array.isArray(parts) ? (parts as readonly Argument[]).filter(isTensor) : [];
}

/** `proj.unflatten(-1, (n, E)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()`, then one select each. */
function packed(call: OperatorCall, projection: Tensor, width: number, count: number): Tensor[] {
  const { frame } = call;
  const shape = [...projection.shape.slice(0, -1), count, width];
  const together = frame.scoped((inner) => {
    const unflattened = view(inner, projection, shape) ?? projection;
    const turned = transpose(inner, unsqueeze(inner, unflattened, 0), 0, -2);
    return contiguousOf(inner, squeeze(inner, turned, [turned.shape.length - 2]));
  });
  frame.free(projection);
  const parts = Array.from({ length: count }, () => select(frame, together, 0));
  frame.free(together);
  return parts;
}

/**
 * Query, key and value with a batch of one where they have none. Each gets a view of its own, so that a tensor given
 * twice is no longer seen to be one: three projections instead of a packed one.
 */
function batched(call: OperatorCall): Projections {
  const turn = (name: string): Tensor => {
    const tensor = call.tensor(name);
    return tensor.shape.length === 2 ? unsqueeze(call.frame, tensor, 1) : tensor;
  };
  return { query: turn("query"), key: turn("key"), value: turn("value") };
}

/** F.multi_head_attention_forward: batch second, heads folded into the batch. */
function multiheadAttention(call: OperatorCall): Argument {
  const { frame } = call;
  const rank = call.tensor("query").shape.length;
  const inputs = batched(call);
  const given = inputs.query;
  if (given.shape.length !== 3) call.fail(shapesDoNotFit(call.name, [given.shape]));
  const [output = null, weights = null] = batchedAttention(call, inputs);
  if (rank === 3) return [output, weights];
  return [
    isTensor(output) ? squeeze(frame, output, [1]) : output,
    isTensor(weights) ? squeeze(frame, weights, [0]) : weights,
  ];
}

function batchedAttention(call: OperatorCall, inputs: Projections): readonly Argument[] {
  const { frame } = call;
  const given = inputs.query;
  const [length = 1, batch = 1, width = 1] = given.shape;
  const heads = call.number("num_heads");
  const headWidth = Math.floor(width / heads);
  const needWeights = call.boolean("need_weights");
  const causal = call.boolean("is_causal");
  const paddingMask = call.optionalTensor("key_padding_mask");
  let mask = call.optionalTensor("attn_mask");
  mask = canonicalMask(frame, mask, given);
  // With a causal hint and no weights wanted the mask itself is not used.
  if (causal && paddingMask === undefined && !needWeights) mask = undefined;
  const projections = project(call, inputs);
  const { query } = projections;
  let { key, value } = projections;
  for (const [name, replace] of [
    ["bias_k", (tensor: Tensor): void => void (key = tensor)],
    ["bias_v", (tensor: Tensor): void => void (value = tensor)],
  ] as const) {
    const extra = call.optionalTensor(name);
    if (extra === undefined) continue;
    const before = name === "bias_k" ? key : value;
    const repeated = call.op("Tensor.repeat", [extra, 1, batch, 1]);
    replace(cat(frame, [before, repeated], 0));
    frame.free(repeated, before);
  }
  // each further key has its column in the masks
  const further = [call.optionalTensor("bias_k") !== undefined, call.values.add_zero_attn === true];
  const widened = (given: Tensor): Tensor =>
    further.reduce((tensor, isThere) => {
      if (!isThere) return tensor;
      const wide = call.op(`${F}.pad`, [tensor, [0, 1]]);
      if (tensor !== given) frame.free(tensor);
      return wide;
    }, given);
  if (mask !== undefined) {
    const narrow = mask;
    mask = widened(narrow);
    if (mask !== narrow) frame.free(narrow);
  }
  const split = (tensor: Tensor): Tensor => {
    const rows = tensor.shape[0] ?? 1;
    const turned = frame.scoped((inner) =>
      transpose(inner, reshape(inner, tensor, [rows, batch * heads, headWidth]), 0, 1),
    );
    frame.free(tensor);
    return turned;
  };
  const q = split(query);
  const [k, v] = [split(key), split(value)].map((tensor) =>
    call.values.add_zero_attn === true ? withZeros(frame, tensor) : tensor,
  );
  if (k === undefined || v === undefined) return call.notUnderstood("key");
  const sourceLength = k.shape[1] ?? 1;
  const padding = paddingMask === undefined ? undefined : canonicalMask(frame, paddingMask, given);
  const widePadding = padding === undefined ? undefined : widened(padding);
  const merged = mergedMask(call, mask, widePadding, batch, heads, sourceLength);
  if (widePadding !== padding) frame.free(widePadding);
  const dropout = call.boolean("training") && (numberOf(call.values.dropout_p) ?? 0) > 0;
  const outWeight = call.tensor("out_proj_weight");
  const outBias = call.optionalTensor("out_proj_bias");
  if (!needWeights) {
    const fold = (tensor: Tensor): Tensor =>
      reshape(frame, tensor, [batch, heads, tensor.shape[1] ?? 1, headWidth]);
    const row: Attention = {
      query: fold(q),
      key: fold(k),
      value: fold(v),
      mask: mergedForHeads(frame, merged, batch, heads),
      dropout,
      causal: causal && merged === undefined,
    };
    const attended = attend(frame, row, 1);
    // the function deletes them before it lays the heads side by side
    frame.free(row.query, row.key, row.value, q, k, v);
    const flat = frame.scoped((inner) => {
      const turned = contiguousOf(inner, permute(inner, attended, [2, 0, 1, 3]));
      return view(inner, turned, [batch * length, width]) ?? turned;
    });
    frame.free(attended);
    const projected = linear(frame, flat, outWeight, outBias);
    frame.free(flat);
    return [reshape(frame, projected, [length, batch, projected.shape.at(-1) ?? 1]), null];
  }
  const scaled = elementwiseOp(frame, "mul", [q, 1]);
  const keys = transpose(frame, k);
  const scores =
    merged === undefined
      ? call.op("torch.bmm", [scaled, keys])
      : call.op("torch.baddbmm", [merged, scaled, keys]);
  // the function deletes what it needs no more
  frame.free(scaled, keys, k);
  const weights = softmax(frame, scores, "softmax");
  frame.free(scores);
  const dropped = dropout ? call.op(`${F}.dropout`, [weights, call.value("dropout_p")]) : weights;
  if (dropped !== weights) frame.free(weights);
  const attended = call.op("torch.bmm", [dropped, v]);
  frame.free(v);
  const flat = frame.scoped((inner) => {
    const turned = contiguousOf(inner, transpose(inner, attended, 0, 1));
    return view(inner, turned, [length * batch, width]) ?? turned;
  });
  frame.free(attended);
  const projected = linear(frame, flat, outWeight, outBias);
  frame.free(flat);
  const output = reshape(frame, projected, [length, batch, projected.shape.at(-1) ?? 1]);
  const perHead = view(frame, dropped, [batch, heads, length, sourceLength]) ?? dropped;
  const average = call.boolean("average_attn_weights");
  return [output, average ? reduce(frame, perHead, { op: "mean", dims: [1] }) : perHead];
}

/** `add_zero_attn`: one more key and value of zeros. */
function withZeros(frame: Frame, tensor: Tensor): Tensor {
  const [rows = 1, , width = 1] = tensor.shape;
  const zeros = frame.empty([rows, 1, width], tensor.dtype);
  const longer = cat(frame, [tensor, zeros], 1);
  frame.free(tensor, zeros);
  return longer;
}

/** _canonical_mask: a boolean mask becomes zeros filled with -inf. */
function canonicalMask(frame: Frame, mask: Tensor | undefined, query: Tensor): Tensor | undefined {
  if (mask === undefined || isFloating(mask.dtype)) return mask;
  return emptyLike(frame, mask, query.dtype);
}

/** The padding mask is spread over heads and added to the attention mask. */
function mergedMask(
  call: OperatorCall,
  mask: Tensor | undefined,
  padding: Tensor | undefined,
  batch: number,
  heads: number,
  sourceLength: number,
): Tensor | undefined {
  const { frame } = call;
  const own = mask !== undefined && mask.shape.length === 2 ? unsqueeze(frame, mask, 0) : mask;
  if (padding === undefined) return own;
  const flat = frame.scoped((inner) => {
    const perBatch = view(inner, padding, [batch, 1, 1, sourceLength]) ?? padding;
    return reshape(inner, expand(inner, perBatch, [batch, heads, 1, sourceLength]), [
      batch * heads,
      1,
      sourceLength,
    ]);
  });
  if (own === undefined) return flat;
  const both = elementwiseOp(frame, "add", [own, flat]);
  // the function binds the mask's name anew; the padding mask's stays bound
  frame.free(own, own === mask ? undefined : mask);
  return both;
}

function mergedForHeads(
  frame: Frame,
  mask: Tensor | undefined,
  batch: number,
  heads: number,
): Tensor | undefined {
  if (mask === undefined) return undefined;
  if (mask.shape[0] === 1 && mask.shape.length === 3) return unsqueeze(frame, mask, 0);
  return reshape(frame, mask, [batch, heads, ...mask.shape.slice(1)]);
}

export const attentionRows: readonly OperatorRow[] = [
  {
    names: [`${F}.scaled_dot_product_attention`],
    signature:
      "query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False",
    run,
  },
  {
    names: [`${F}.multi_head_attention_forward`],
    signature:
      "query, key, value, embed_dim, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn, " +
      "dropout_p, out_proj_weight, out_proj_bias, training=True, key_padding_mask=None, need_weights=True, " +
      "attn_mask=None, use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, " +
      "static_k=None, static_v=None, average_attn_weights=True, is_causal=False",
    run: multiheadAttention,
  },
];
