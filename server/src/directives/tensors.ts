/** `input=` and `target=`: dtype, dimensions, name and bound of tensors. */
import type { InputDimension, InputSpecification } from "../memory/setup";
import { dtypeBytes } from "../memory/tensor";
import type { Dtype } from "../memory/tensor";
import { headerMessages as texts } from "../messages/directives";
import { part, trimmed } from "./comments";
import type { Text } from "./comments";
import { report, shown } from "./context";
import type { ReadContext } from "./context";
import { nearest } from "./nearest";
import { split } from "./split";

export const dtypes = Object.keys(dtypeBytes) as Dtype[];

/** PyTorch's own second names (https://docs.pytorch.org/docs/stable/tensor_attributes.html). */
const dtypeAliases: Readonly<Record<string, Dtype>> = {
  float: "float32",
  double: "float64",
  half: "float16",
  long: "int64",
  int: "int32",
  short: "int16",
  cfloat: "complex64",
  cdouble: "complex128",
};

/** Names from elsewhere, offered as a correction. */
const dtypeMeanings: Readonly<Record<string, Dtype>> = {
  fp64: "float64",
  fp32: "float32",
  fp16: "float16",
  bf16: "bfloat16",
  i64: "int64",
  i32: "int32",
  byte: "uint8",
  boolean: "bool",
  fp8: "float8_e4m3fn",
  float8: "float8_e4m3fn",
};

/** All tensors of one value, `;` between them; what cannot be read is reported and left out. */
export function readTensors(value: Text, context: ReadContext): InputSpecification[] {
  const read: InputSpecification[] = [];
  for (const piece of split(value, ";").pieces) {
    if (piece.text === "") continue;
    const tensor = readTensor(piece, context);
    if (tensor) read.push(tensor);
  }
  return read;
}

/** One `name=dtype[dimensions]<bound`. */
function readTensor(piece: Text, context: ReadContext): InputSpecification | undefined {
  const match = /^(?:([A-Za-z_]\w*)\s*=\s*)?((?:torch\s*\.\s*)?[A-Za-z]\w*)\s*/.exec(piece.text);
  if (!match) {
    report(context, piece, texts.badTensor, { text: shown(piece.text) });
    return undefined;
  }
  const dtypeText = match[2] ?? "";
  const dtypeStart = match[0].trimEnd().length - dtypeText.length;
  const dtype = readDtype(part(piece, dtypeStart, dtypeStart + dtypeText.length), context);
  const rest = part(piece, match[0].length);
  const shape = /^\[([^[\]]*)\]\s*/.exec(rest.text);
  if (!shape) {
    if (rest.text === "") report(context, piece, texts.missingShape, { dtype: dtype ?? "float32" });
    else report(context, piece, texts.badTensor, { text: shown(piece.text) });
    return undefined;
  }
  const dimensions = readDimensions(part(rest, 1, 1 + (shape[1] ?? "").length), context);
  const bound = readBound(part(rest, shape[0].length), dtype, context);
  if (dtype === undefined || dimensions === undefined) return undefined;
  return { name: match[1], dtype, dimensions, bound };
}

function readDtype(piece: Text, context: ReadContext): Dtype | undefined {
  const name = piece.text.toLowerCase().replace(/^torch\s*\.\s*/, "");
  const known =
    dtypes.find((dtype) => dtype === name) ??
    (Object.hasOwn(dtypeAliases, name) ? dtypeAliases[name] : undefined);
  if (known !== undefined) return known;
  const near = nearest(name, dtypes, dtypeMeanings);
  if (near === undefined) {
    report(context, piece, texts.unknownDtype, { text: shown(piece.text), choices: dtypes.join(", ") });
  } else {
    report(context, piece, texts.unknownDtypeNearest, { text: shown(piece.text), nearest: near }, near);
  }
  return undefined;
}

/** `undefined` when one of them could not be read: a shape with a hole is none. */
function readDimensions(list: Text, context: ReadContext): InputDimension[] | undefined {
  if (list.text.trim() === "") return [];
  const pieces = [...split(list, ",").pieces];
  // Python allows a comma behind the last one.
  if (pieces.length > 1 && pieces[pieces.length - 1]?.text === "") pieces.pop();
  const dimensions = pieces.map((piece) => readDimension(piece, list, context));
  return dimensions.every((dimension) => dimension !== undefined) ? dimensions : undefined;
}

function readDimension(piece: Text, list: Text, context: ReadContext): InputDimension | undefined {
  if (piece.text === "") {
    report(context, list, texts.badDimension, { text: shown(list.text) });
    return undefined;
  }
  let factor = 1;
  let perSample = false;
  let offset = 0;
  for (const raw of piece.text.split("*")) {
    const text = trimmed(part(piece, offset, offset + raw.length));
    offset += raw.length + 1;
    if (text.text === "B" || text.text === "b") {
      if (perSample) {
        report(context, piece, texts.batchTwice);
        return undefined;
      }
      perSample = true;
      continue;
    }
    const value = readFactor(text, piece, context);
    if (value === undefined) return undefined;
    factor *= value;
  }
  if (Number.isSafeInteger(factor)) return { factor, perSample };
  report(context, piece, texts.dimensionTooLarge);
  return undefined;
}

function readFactor(text: Text, dimension: Text, context: ReadContext): number | undefined {
  if (/^[A-Z]$/.test(text.text)) {
    const value = context.letters.get(text.text);
    if (value === undefined) report(context, text, texts.letterWithoutValue, { letter: text.text });
    return value;
  }
  const value = wholeNumber(text.text);
  if (value === undefined || value < 1) {
    const at = text.text === "" ? dimension : text;
    report(context, at, texts.badDimension, { text: shown(at.text) });
    return undefined;
  }
  return value;
}

function readBound(rest: Text, dtype: Dtype | undefined, context: ReadContext): number | undefined {
  if (rest.text === "") return undefined;
  const match = /^<\s*(.*)$/.exec(rest.text);
  if (!match) {
    report(context, rest, texts.badTensor, { text: shown(rest.text) });
    return undefined;
  }
  const text = part(rest, rest.text.length - (match[1] ?? "").length);
  const bound = /^[A-Z]$/.test(text.text) ? context.letters.get(text.text) : wholeNumber(text.text);
  if (bound === undefined || bound < 1) {
    report(context, rest, texts.badBound, { text: shown(rest.text) });
    return undefined;
  }
  if (dtype !== undefined && /^(float|bfloat|complex)/.test(dtype)) {
    report(context, rest, texts.boundOfFloat, { bound, dtype });
    return undefined;
  }
  return bound;
}

/** A whole number as Python writes it (`1_000`); `undefined` for anything else or beyond what is exact. */
export function wholeNumber(text: string): number | undefined {
  if (!/^\d+(?:_\d+)*$/.test(text)) return undefined;
  const value = Number(text.replaceAll("_", ""));
  return Number.isSafeInteger(value) ? value : undefined;
}
