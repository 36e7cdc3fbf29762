/**
 * What transformers asks of the values of masks, which are not known here: `answeredInstead` of the library's own functions.
 * Source: transformers/masking_utils.py of 4.57 and 5.24.
 */
import { Tensor } from "../../tensor";
import { CallArguments } from "../arguments";
import { getAttribute } from "../attributes";
import type { Interpreter } from "../interpreter";
import { integer } from "../numbers";
import { NativeFunction, type Native, type Value } from "../values";

/** Whether no token is padding; where the values are not known, some are taken to be, and that is said. */
function isUnpadded(interpreter: Interpreter, mask: Value): boolean {
  if (mask === null) return true;
  if (mask instanceof Tensor && mask.values !== undefined) return mask.values.every((value) => value !== 0);
  interpreter.assumed.set("attention_mask:padded", undefined);
  return false;
}

/** `_ignore_causal_mask_sdpa(padding_mask, q_length, kv_length, [q_offset,] kv_offset, local_attention_size)`. */
const ignoresCausalMask: Native = (interpreter, args) => {
  const mask = args.get(0, "padding_mask") ?? null;
  const queries = integer(args.get(1, "q_length") ?? args.keywords.get("query_length") ?? null);
  const keys = integer(args.get(2, "kv_length") ?? null);
  const window = integer(args.positional.at(-1) ?? null);
  const hasWindow = args.positional.length >= 5 && args.positional.at(-1) !== null;
  if (queries === undefined || keys === undefined || (queries !== 1 && keys !== queries)) return false;
  if (hasWindow && (window === undefined || keys >= window)) return false;
  return isUnpadded(interpreter, mask);
};

/** `_ignore_bidirectional_mask_sdpa(padding_mask, kv_length, local_attention_size)`. */
const ignoresBidirectionalMask: Native = (interpreter, args) => {
  const window = args.get(2, "local_attention_size") ?? null;
  const [keys, size] = [integer(args.get(1, "kv_length") ?? null), integer(window)];
  if (window !== null && (keys === undefined || size === undefined || keys >= size)) return false;
  return isUnpadded(interpreter, args.get(0, "padding_mask") ?? null);
};

/** Packed sequences are told by positions that begin anew; those that the model counts itself never do. */
const packedIndices: Native = (interpreter, args, span) => {
  const positions = args.get(0, "position_ids");
  return positions instanceof Tensor && positions.storage.kind === "input"
    ? interpreter.unknown("tensorValue", span)
    : null;
};

/** `_vmap_for_bhqkv(mask_function)`: the mask's function over all positions at once, as version 5 calls it without vmap. */
const overPositions: Native = (_, args) => {
  const rule = args.at(0) ?? null;
  return new NativeFunction("vmapped", (interpreter, given, span) => {
    const places = [[0], [1], [2], [3]].map(([axis], index) => {
      const vector = given.at(index) ?? null;
      if (!(vector instanceof Tensor)) return vector;
      const shape = [1, 1, 1, 1].map((one, at) => (at === axis ? -1 : one));
      return interpreter.call(
        getAttribute(interpreter, vector, "view", span),
        new CallArguments(shape),
        span,
      );
    });
    const mask = interpreter.call(rule, new CallArguments(places), span);
    if (!(mask instanceof Tensor)) return mask;
    const sizes = [0, 1, 2, 3].map((index) => {
      const vector = given.at(index);
      return vector instanceof Tensor ? (vector.shape[0] ?? 1) : 1;
    });
    const whole = interpreter.call(
      getAttribute(interpreter, mask, "expand", span),
      new CallArguments(sizes),
      span,
    );
    return interpreter.call(
      getAttribute(interpreter, whole, "contiguous", span),
      new CallArguments([]),
      span,
    );
  });
};

/** `AttentionMaskConverter._ignore_causal_mask_sdpa(attention_mask, inputs_embeds, past_length, sliding_window)`, a static method. */
const ignoresConvertedMask: Native = (interpreter, args) => {
  const [embeddings, window] = [args.get(1, "inputs_embeds"), args.get(3, "sliding_window") ?? null];
  const length = embeddings instanceof Tensor ? (embeddings.shape[1] ?? 0) : Infinity;
  const isWhole = window === null || length <= (integer(window) ?? 0);
  return integer(args.get(2, "past_key_values_length") ?? 0) === 0 && isWhole
    ? isUnpadded(interpreter, args.get(0, "attention_mask") ?? null)
    : false;
};

/** `_prepare_4d_attention_mask_for_sdpa(mask, dtype, tgt_len)`: none where nothing is padding. */
const preparesMask: Native = (interpreter, args, span) => {
  if (isUnpadded(interpreter, args.get(0, "mask") ?? null)) return null;
  const room = interpreter.files.source("transformers.modeling_attn_mask_utils");
  return interpreter.call(room?.frame.lookup("_prepare_4d_attention_mask") ?? null, args, span);
};

/** Functions of files that are read whose answers rest on values of tensors, or on what is not followed. */
export const answeredInstead: ReadonlyMap<string, Native> = new Map([
  ["transformers.masking_utils._ignore_causal_mask_sdpa", ignoresCausalMask],
  ["transformers.masking_utils._ignore_bidirectional_mask_sdpa", ignoresBidirectionalMask],
  ["transformers.masking_utils.find_packed_sequence_indices", packedIndices],
  ["transformers.masking_utils._vmap_for_bhqkv", overPositions],
  [
    "transformers.modeling_attn_mask_utils.AttentionMaskConverter._ignore_causal_mask_sdpa",
    ignoresConvertedMask,
  ],
  ["transformers.modeling_attn_mask_utils._prepare_4d_attention_mask_for_sdpa", preparesMask],
  ["transformers.masking_utils._vmap_expansion_sdpa", overPositions],
]);
