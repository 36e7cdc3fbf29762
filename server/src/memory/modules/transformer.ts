/** Attention and transformer layers, as torch/nn/modules/{activation,transformer}.py compose them. */
import type { Argument, Keywords } from "../operators/argument";
import { isTensor } from "../operators/argument";
import { argumentNotUnderstood } from "../operators/reasons";
import { NotUnderstood, type Values } from "../operators/values";
import type { Tensor } from "../tensor";
import { isUnknown, Unknown } from "../unknown";
import type { ConstructorContext, ForwardContext, ModuleObject, ModuleRow } from "./module";
import { addParameter, argumentsOf, attribute, factory, ForwardFrame, keepAttributes } from "./rows";

// --- Multi-head attention -------------------------------------------------------------------------------------------

const multiheadAttention: ModuleRow = {
  name: "torch.nn.MultiheadAttention",
  constructorParameters:
    "embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None, vdim=None, " +
    `batch_first=False, ${factory}`,
  construct: (context) => {
    const values = argumentsOf(context);
    const width = values.number("embed_dim");
    const keyWidth = values.optionalNumber("kdim") ?? width;
    const valueWidth = values.optionalNumber("vdim") ?? width;
    const { module } = context;
    keepAttributes(context, ["embed_dim", "num_heads", "dropout", "batch_first", "add_zero_attn"]);
    module.setAttribute("kdim", keyWidth);
    module.setAttribute("vdim", valueWidth);
    module.setAttribute("head_dim", Math.floor(width / values.number("num_heads")));
    const same = keyWidth === width && valueWidth === width;
    module.setAttribute("_qkv_same_embed_dim", same);
    addParameter(context, "in_proj_weight", same ? [3 * width, width] : undefined);
    addParameter(context, "q_proj_weight", same ? undefined : [width, width]);
    addParameter(context, "k_proj_weight", same ? undefined : [width, keyWidth]);
    addParameter(context, "v_proj_weight", same ? undefined : [width, valueWidth]);
    addParameter(context, "in_proj_bias", values.boolean("bias") ? [3 * width] : undefined);
    const out = create(module, "torch.nn.NonDynamicallyQuantizableLinear", [width, width], {
      bias: values.boolean("bias"),
      dtype: context.values.dtype ?? null,
    });
    if (isUnknown(out)) return out;
    module.addModule("out_proj", out);
    const extra = values.boolean("add_bias_kv") ? [1, 1, width] : undefined;
    addParameter(context, "bias_k", extra);
    addParameter(context, "bias_v", extra);
    return undefined;
  },
  forwardParameters:
    "query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, average_attn_weights=True, " +
    "is_causal=False",
  forward: (context) => ForwardFrame.run(context, (frame) => forwardAttention(frame, context)),
};

function forwardAttention(frame: ForwardFrame, context: ForwardContext): Argument {
  const { module, values } = context;
  const batchFirst = attribute(module, "batch_first") === true;
  const given = { query: values.query ?? null, key: values.key ?? null, value: values.value ?? null };
  const { query, key, value } = given;
  if (!isTensor(query) || !isTensor(key) || !isTensor(value)) {
    throw new NotUnderstood(argumentNotUnderstood(context.torchClass, "query"));
  }
  const swap = batchFirst && query.shape.length === 3;
  // The same tensor given twice stays one tensor: the packed projection depends on it.
  const swapped = new Map<Tensor, Tensor>();
  const turn = (tensor: Tensor): Tensor => {
    if (!swap) return tensor;
    let turned = swapped.get(tensor);
    if (turned === undefined) {
      turned = frame.op("Tensor.transpose", [tensor, 1, 0]);
      swapped.set(tensor, turned);
    }
    return turned;
  };
  const outProjection = module.child("out_proj");
  const keywords: Record<string, Argument> = {
    training: module.training,
    key_padding_mask: canonicalMask(frame, values.key_padding_mask, query),
    need_weights: values.need_weights ?? true,
    attn_mask: canonicalMask(frame, values.attn_mask, query),
    average_attn_weights: values.average_attn_weights ?? true,
    is_causal: values.is_causal ?? false,
  };
  if (attribute(module, "_qkv_same_embed_dim") !== true) {
    keywords.use_separate_proj_weight = true;
    for (const name of ["q_proj_weight", "k_proj_weight", "v_proj_weight"]) {
      keywords[name] = attribute(module, name);
    }
  }
  const result = frame.call(
    "torch.nn.functional.multi_head_attention_forward",
    [
      turn(query),
      turn(key),
      turn(value),
      attribute(module, "embed_dim"),
      attribute(module, "num_heads"),
      attribute(module, "in_proj_weight"),
      attribute(module, "in_proj_bias"),
      attribute(module, "bias_k"),
      attribute(module, "bias_v"),
      attribute(module, "add_zero_attn"),
      attribute(module, "dropout"),
      outProjection?.getAttribute("weight") ?? null,
      outProjection?.getAttribute("bias") ?? null,
    ],
    keywords,
  );
  if (!Array.isArray(result)) throw new NotUnderstood(argumentNotUnderstood(context.torchClass, "result"));
  const [output = null, weights = null] = result as readonly Argument[];
  if (!swap || !isTensor(output)) return [output, weights];
  return [frame.op("Tensor.transpose", [output, 1, 0]), weights];
}

/** A linear layer by another class name, so that quantisation leaves it alone. */
function createLinear(
  context: ConstructorContext,
  inputs: number,
  outputs: number,
  bias: boolean,
): ModuleObject {
  const made = create(context.module, "torch.nn.Linear", [inputs, outputs], {
    bias,
    dtype: context.values.dtype ?? null,
  });
  if (isUnknown(made)) throw new NotUnderstood(made.reason);
  return made;
}

function create(
  module: ModuleObject,
  name: string,
  positional: readonly Argument[],
  keywords: Keywords,
): ModuleObject | Unknown {
  const known = name === "torch.nn.NonDynamicallyQuantizableLinear" ? "torch.nn.Linear" : name;
  return module.create(known, positional, keywords);
}

function addChild(
  context: ConstructorContext,
  name: string,
  torchClass: string,
  positional: readonly Argument[],
  keywords: Keywords = {},
): void {
  const made = create(context.module, torchClass, positional, keywords);
  if (isUnknown(made)) throw new NotUnderstood(made.reason);
  context.module.addModule(name, made);
}

// --- Layers ---------------------------------------------------------------------------------------------------------

const layerParameters =
  "d_model, nhead, dim_feedforward=2048, dropout=0.1, activation='relu', layer_norm_eps=1e-5, batch_first=False, " +
  `norm_first=False, bias=True, ${factory}`;

function constructLayer(context: ConstructorContext, decoder: boolean): undefined {
  const values = argumentsOf(context);
  const width = values.number("d_model");
  const hidden = values.number("dim_feedforward");
  const bias = values.boolean("bias");
  const dropout = context.values.dropout ?? null;
  const attention: Keywords = {
    dropout,
    bias,
    batch_first: values.boolean("batch_first"),
    dtype: context.values.dtype ?? null,
  };
  const heads = values.number("nhead");
  addChild(context, "self_attn", "torch.nn.MultiheadAttention", [width, heads], attention);
  if (decoder) addChild(context, "multihead_attn", "torch.nn.MultiheadAttention", [width, heads], attention);
  context.module.addModule("linear1", createLinear(context, width, hidden, bias));
  addChild(context, "dropout", "torch.nn.Dropout", [dropout]);
  context.module.addModule("linear2", createLinear(context, hidden, width, bias));
  context.module.setAttribute("norm_first", values.boolean("norm_first"));
  const norms = decoder ? ["norm1", "norm2", "norm3"] : ["norm1", "norm2"];
  for (const name of norms) {
    addChild(context, name, "torch.nn.LayerNorm", [width], {
      eps: context.values.layer_norm_eps ?? null,
      bias,
      dtype: context.values.dtype ?? null,
    });
  }
  for (let i = 1; i <= norms.length; i++) addChild(context, `dropout${i}`, "torch.nn.Dropout", [dropout]);
  const activation = values.value("activation");
  context.module.setAttribute("activation", activation);
  return undefined;
}

function activate(frame: ForwardFrame, input: Tensor): Tensor {
  const activation = attribute(frame.context.module, "activation");
  if (typeof activation === "string") return frame.op(`torch.nn.functional.${activation}`, [input]);
  if (activation !== null && typeof activation === "object" && "kind" in activation) {
    if (activation.kind === "module") return frame.tensor("activation", frame.module(activation, [input]));
    if (activation.kind === "function" && activation.name !== undefined) {
      return frame.op(activation.name, [input]);
    }
    if (activation.kind === "function") {
      return frame.tensor("activation", frame.own(activation.call([input], {})));
    }
  }
  throw new NotUnderstood(argumentNotUnderstood(frame.context.torchClass, "activation"));
}

/** A block of a layer. It calls `used` where PyTorch binds the name of its input anew. */
type Block = (input: Tensor, used: () => void) => Tensor;

function feedForward(frame: ForwardFrame, input: Tensor, dropout: string, used: () => void): Tensor {
  const hidden = frame.childTensor("linear1", [input]);
  const active = activate(frame, hidden);
  frame.free(hidden);
  const dropped = frame.childTensor("dropout", [active]);
  frame.free(active);
  const out = frame.childTensor("linear2", [dropped]);
  frame.free(dropped);
  used();
  const result = frame.childTensor(dropout, [out]);
  frame.free(out);
  return result;
}

function attend(
  frame: ForwardFrame,
  child: string,
  dropout: string,
  query: Tensor,
  memory: Tensor,
  masks: Keywords,
  used: () => void,
): Tensor {
  const result = frame.child(child, [query, memory, memory], { ...masks, need_weights: false });
  const output = Array.isArray(result) ? ((result as readonly Argument[])[0] ?? null) : result;
  const attended = frame.tensor(child, output);
  used();
  const dropped = frame.childTensor(dropout, [attended]);
  frame.free(attended);
  return dropped;
}

/** `x + block(norm(x))` or `norm(x + block(x))`. */
function residual(frame: ForwardFrame, x: Tensor, norm: string, normFirst: boolean, block: Block): Tensor {
  if (normFirst) {
    const normed = frame.childTensor(norm, [x]);
    const branch = block(normed, () => frame.free(normed));
    const sum = frame.op("Tensor.__add__", [x, branch]);
    frame.free(branch, x);
    return sum;
  }
  // the caller still has it
  const branch = block(x, () => undefined);
  const sum = frame.op("Tensor.__add__", [x, branch]);
  frame.free(branch);
  const normed = frame.childTensor(norm, [sum]);
  frame.free(sum, x);
  return normed;
}

/** F._canonical_mask: a boolean mask becomes zeros filled with -inf, which live as long as the module's forward. */
function canonicalMask(frame: ForwardFrame, mask: Argument | undefined, source: Tensor): Argument {
  if (!isTensor(mask) || mask.dtype !== "bool") return mask ?? null;
  return frame.op("torch.zeros_like", [mask], { dtype: { kind: "dtype", dtype: source.dtype } });
}

const encoderLayer: ModuleRow = {
  name: "torch.nn.TransformerEncoderLayer",
  constructorParameters: layerParameters,
  construct: (context) => constructLayer(context, false),
  forwardParameters: "src, src_mask=None, src_key_padding_mask=None, is_causal=False",
  forward: (context) =>
    ForwardFrame.run(context, (frame) => {
      const { values } = context;
      const normFirst = attribute(context.module, "norm_first") === true;
      const source = frame.tensor("src", values.src ?? null);
      const masks: Keywords = {
        key_padding_mask: canonicalMask(frame, values.src_key_padding_mask, source),
        attn_mask: canonicalMask(frame, values.src_mask, source),
        is_causal: values.is_causal ?? false,
      };
      const x = residual(frame, source, "norm1", normFirst, (input, used) =>
        attend(frame, "self_attn", "dropout1", input, input, masks, used),
      );
      return residual(frame, x, "norm2", normFirst, (input, used) =>
        feedForward(frame, input, "dropout2", used),
      );
    }),
};

const decoderLayer: ModuleRow = {
  name: "torch.nn.TransformerDecoderLayer",
  constructorParameters: layerParameters,
  construct: (context) => constructLayer(context, true),
  forwardParameters:
    "tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None, " +
    "tgt_is_causal=False, memory_is_causal=False",
  forward: (context) =>
    ForwardFrame.run(context, (frame) => {
      const { values } = context;
      const normFirst = attribute(context.module, "norm_first") === true;
      const memory = frame.tensor("memory", values.memory ?? null);
      const own: Keywords = {
        attn_mask: values.tgt_mask ?? null,
        key_padding_mask: values.tgt_key_padding_mask ?? null,
        is_causal: values.tgt_is_causal ?? false,
      };
      const cross: Keywords = {
        attn_mask: values.memory_mask ?? null,
        key_padding_mask: values.memory_key_padding_mask ?? null,
        is_causal: values.memory_is_causal ?? false,
      };
      const target = frame.tensor("tgt", values.tgt ?? null);
      const x = residual(frame, target, "norm1", normFirst, (input, used) =>
        attend(frame, "self_attn", "dropout1", input, input, own, used),
      );
      const y = residual(frame, x, "norm2", normFirst, (input, used) =>
        attend(frame, "multihead_attn", "dropout2", input, memory, cross, used),
      );
      return residual(frame, y, "norm3", normFirst, (input, used) =>
        feedForward(frame, input, "dropout3", used),
      );
    }),
};

// --- Stacks ---------------------------------------------------------------------------------------------------------

function constructStack(context: ConstructorContext, layerArgument: string): Unknown | undefined {
  const values = argumentsOf(context);
  const layer = values.value(layerArgument);
  if (layer === null || typeof layer !== "object" || !("kind" in layer) || layer.kind !== "module") {
    return new Unknown(argumentNotUnderstood(context.torchClass, layerArgument), undefined);
  }
  const list = context.module.create("torch.nn.ModuleList", [], {});
  if (isUnknown(list)) return list;
  for (let i = 0; i < values.number("num_layers"); i++) {
    const copy = layer.copy();
    if (isUnknown(copy)) return copy;
    list.addModule(String(i), copy);
  }
  context.module.addModule("layers", list);
  context.module.setAttribute("num_layers", values.number("num_layers"));
  const norm = values.value("norm");
  if (norm !== null && typeof norm === "object" && "kind" in norm && norm.kind === "module") {
    context.module.addModule("norm", norm);
  } else {
    context.module.setAttribute("norm", null);
  }
  return undefined;
}

function runStack(frame: ForwardFrame, input: Tensor, rest: readonly Argument[], keywords: Keywords): Tensor {
  const { module } = frame.context;
  let x = input;
  for (const [, layer] of module.child("layers")?.children() ?? []) {
    const next = frame.tensor("layers", frame.module(layer, [x, ...rest], keywords));
    frame.free(x);
    x = next;
  }
  if (module.child("norm") === undefined) return x;
  const normed = frame.childTensor("norm", [x]);
  frame.free(x);
  return normed;
}

const encoder: ModuleRow = {
  name: "torch.nn.TransformerEncoder",
  constructorParameters: "encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True",
  construct: (context) => constructStack(context, "encoder_layer"),
  forwardParameters: "src, mask=None, src_key_padding_mask=None, is_causal=None",
  forward: (context) =>
    ForwardFrame.run(context, (frame) => {
      const { values } = context;
      const source = frame.tensor("src", values.src ?? null);
      const padding = canonicalMask(frame, values.src_key_padding_mask, source);
      const mask = canonicalMask(frame, values.mask, source);
      return runStack(frame, source, [], {
        src_mask: mask,
        // A mask handed over is taken for the causal one: PyTorch compares its values (_detect_is_causal_mask).
        is_causal: values.is_causal ?? mask !== null,
        src_key_padding_mask: padding,
      });
    }),
};

const decoder: ModuleRow = {
  name: "torch.nn.TransformerDecoder",
  constructorParameters: "decoder_layer, num_layers, norm=None",
  construct: (context) => constructStack(context, "decoder_layer"),
  forwardParameters:
    "tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None, " +
    "tgt_is_causal=None, memory_is_causal=False",
  forward: (context) =>
    ForwardFrame.run(context, (frame) => {
      const { values } = context;
      const mask = values.tgt_mask ?? null;
      return runStack(frame, frame.tensor("tgt", values.tgt ?? null), [values.memory ?? null], {
        tgt_mask: mask,
        memory_mask: values.memory_mask ?? null,
        tgt_key_padding_mask: values.tgt_key_padding_mask ?? null,
        memory_key_padding_mask: values.memory_key_padding_mask ?? null,
        tgt_is_causal: values.tgt_is_causal ?? mask !== null,
        memory_is_causal: values.memory_is_causal ?? false,
      });
    }),
};

const transformer: ModuleRow = {
  name: "torch.nn.Transformer",
  constructorParameters:
    "d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, dim_feedforward=2048, dropout=0.1, " +
    "activation='relu', custom_encoder=None, custom_decoder=None, layer_norm_eps=1e-5, batch_first=False, " +
    `norm_first=False, bias=True, ${factory}`,
  construct: (context) => {
    const values = argumentsOf(context);
    keepAttributes(context, ["d_model", "nhead", "batch_first"]);
    addStack(context, values, "encoder");
    addStack(context, values, "decoder");
    return undefined;
  },
  forwardParameters:
    "src, tgt, src_mask=None, tgt_mask=None, memory_mask=None, src_key_padding_mask=None, " +
    "tgt_key_padding_mask=None, memory_key_padding_mask=None, src_is_causal=None, tgt_is_causal=None, " +
    "memory_is_causal=False",
  forward: (context) =>
    ForwardFrame.run(context, (frame) => {
      const { values } = context;
      const memory = frame.childTensor("encoder", [values.src ?? null], {
        mask: values.src_mask ?? null,
        src_key_padding_mask: values.src_key_padding_mask ?? null,
        is_causal: values.src_is_causal ?? null,
      });
      return frame.childTensor("decoder", [values.tgt ?? null, memory], {
        tgt_mask: values.tgt_mask ?? null,
        memory_mask: values.memory_mask ?? null,
        tgt_key_padding_mask: values.tgt_key_padding_mask ?? null,
        memory_key_padding_mask: values.memory_key_padding_mask ?? null,
        tgt_is_causal: values.tgt_is_causal ?? null,
        memory_is_causal: values.memory_is_causal ?? false,
      });
    }),
};

function addStack(context: ConstructorContext, values: Values, kind: "encoder" | "decoder"): void {
  const custom = values.value(`custom_${kind}`);
  if (custom !== null && typeof custom === "object" && "kind" in custom && custom.kind === "module") {
    context.module.addModule(kind, custom);
    return;
  }
  const className = kind === "encoder" ? "Encoder" : "Decoder";
  const names = ["d_model", "nhead", "dim_feedforward", "dropout", "activation", "layer_norm_eps"];
  const layer = context.module.create(
    `torch.nn.Transformer${className}Layer`,
    [...names, "batch_first", "norm_first", "bias"].map((name) => context.values[name] ?? null),
    { dtype: context.values.dtype ?? null },
  );
  if (isUnknown(layer)) throw new NotUnderstood(layer.reason);
  const norm = context.module.create("torch.nn.LayerNorm", [values.number("d_model")], {
    bias: values.boolean("bias"),
    dtype: context.values.dtype ?? null,
  });
  if (isUnknown(norm)) throw new NotUnderstood(norm.reason);
  const stack = context.module.create(
    `torch.nn.Transformer${className}`,
    [layer, values.number(`num_${kind}_layers`), norm],
    {},
  );
  if (isUnknown(stack)) throw new NotUnderstood(stack.reason);
  context.module.addModule(kind, stack);
}

export const transformers: readonly ModuleRow[] = [
  multiheadAttention,
  encoderLayer,
  decoderLayer,
  encoder,
  decoder,
  transformer,
];
