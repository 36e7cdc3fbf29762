/** Builtin functions whose result on constants is a constant. */
import type { ConstantValue } from "./constant";
import { compare, float, integer, isTruthy } from "./constant-operators";

type BuiltinFolder = (values: readonly ConstantValue[]) => ConstantValue | undefined;

/** By qualified name. Each gives `undefined` for arguments that it does not know or Python refuses. */
export const BUILTIN_FOLDERS: ReadonlyMap<string, BuiltinFolder> = new Map<string, BuiltinFolder>([
  ["builtins.abs", only(foldAbsolute)],
  ["builtins.bool", only((value) => ({ kind: "boolean", value: isTruthy(value) }))],
  ["builtins.float", only(foldFloat)],
  ["builtins.int", only(foldInt)],
  ["builtins.len", only(foldLength)],
  ["builtins.list", only((value) => asSequence("list", value))],
  ["builtins.max", (values) => extreme(values, ">")],
  ["builtins.min", (values) => extreme(values, "<")],
  ["builtins.tuple", only((value) => asSequence("tuple", value))],
]);

function only(folder: (value: ConstantValue) => ConstantValue | undefined): BuiltinFolder {
  return (values) => {
    const [value, ...others] = values;
    return value === undefined || others.length > 0 ? undefined : folder(value);
  };
}

function foldAbsolute(value: ConstantValue): ConstantValue | undefined {
  if (value.kind === "integer") return integer(Math.abs(value.value));
  return value.kind === "float" ? float(Math.abs(value.value)) : undefined;
}

function foldFloat(value: ConstantValue): ConstantValue | undefined {
  if (value.kind === "integer" || value.kind === "float") return float(value.value);
  return value.kind === "boolean" ? float(Number(value.value)) : undefined;
}

/** Towards zero, as `int` does. Strings only when they are plain digits. */
function foldInt(value: ConstantValue): ConstantValue | undefined {
  if (value.kind === "integer" || value.kind === "float") return integer(Math.trunc(value.value));
  if (value.kind === "boolean") return integer(Number(value.value));
  return value.kind === "string" && /^[0-9]+$/.test(value.value) ? integer(Number(value.value)) : undefined;
}

function foldLength(value: ConstantValue): ConstantValue | undefined {
  switch (value.kind) {
    case "string":
      // Python counts code points.
      return integer(Array.from(value.value).length);
    case "tuple":
    case "list":
      return integer(value.elements.length);
    case "dict":
      return integer(value.entries.length);
    default:
      return undefined;
  }
}

function asSequence(kind: "tuple" | "list", value: ConstantValue): ConstantValue | undefined {
  return value.kind === "tuple" || value.kind === "list" ? { kind, elements: value.elements } : undefined;
}

function extreme(values: readonly ConstantValue[], operator: "<" | ">"): ConstantValue | undefined {
  const [first] = values;
  if (first === undefined) return undefined;
  const isSequence = first.kind === "tuple" || first.kind === "list";
  const candidates = values.length === 1 && isSequence ? first.elements : values;
  if (values.length === 1 && !isSequence) return undefined;
  let best = candidates[0];
  for (const candidate of candidates.slice(1)) {
    const isBetter = best === undefined ? undefined : compare(operator, candidate, best);
    if (isBetter === undefined) return undefined;
    if (isBetter) best = candidate;
  }
  return best;
}
