/** Operators whose results have as many elements as the operands' values say, on small tensors whose values are known. */
import { Tensor, type Dtype } from "../../tensor";
import { CallArguments } from "../arguments";
import { runOperator } from "../bridge";
import type { Interpreter } from "../interpreter";
import { DtypeValue, TupleValue, type Native, type Value } from "../values";
import type { Span } from "../../../python/tree";

function vector(
  interpreter: Interpreter,
  values: readonly number[],
  dtype: Dtype,
  span: Span | undefined,
): Value {
  const keywords = new Map<string, Value>([["dtype", new DtypeValue(dtype)]]);
  const made = runOperator(interpreter, "torch.zeros", new CallArguments([values.length], keywords), span);
  if (made instanceof Tensor) made.values = values;
  return made;
}

/** `torch.unique`: ascending; with `return_counts` how often each occurs. */
const unique: Native = (interpreter, args, span) => {
  const given = args.at(0);
  const others = [...args.keywords.keys()].filter((name) => name !== "return_counts");
  const isFollowed = args.positional.length === 1 && others.length === 0;
  if (!isFollowed || !(given instanceof Tensor) || given.values === undefined)
    return runOperator(interpreter, "torch.unique", args, span);
  const counts = new Map<number, number>();
  for (const value of given.values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const ordered = [...counts].sort(([a], [b]) => a - b);
  const values = vector(
    interpreter,
    ordered.map(([value]) => value),
    given.dtype,
    span,
  );
  if (args.keywords.get("return_counts") !== true) return values;
  return new TupleValue([
    values,
    vector(
      interpreter,
      ordered.map(([, count]) => count),
      "int64",
      span,
    ),
  ]);
};

/** `torch.unique_consecutive`: neighbours that are the same become one; with `return_counts` how many they were. */
const uniqueConsecutive: Native = (interpreter, args, span) => {
  const given = args.at(0);
  const others = [...args.keywords.keys()].filter((name) => name !== "return_counts");
  const isFollowed = args.positional.length === 1 && others.length === 0;
  if (!isFollowed || !(given instanceof Tensor) || given.values === undefined)
    return runOperator(interpreter, "torch.unique_consecutive", args, span);
  const runs: { readonly value: number; count: number }[] = [];
  for (const value of given.values) {
    const last = runs.at(-1);
    if (last?.value === value) last.count++;
    else runs.push({ value, count: 1 });
  }
  const of = (numbers: readonly number[], dtype: Dtype): Value => vector(interpreter, numbers, dtype, span);
  const values = of(
    runs.map(({ value }) => value),
    given.dtype,
  );
  if (args.keywords.get("return_counts") !== true) return values;
  return new TupleValue([
    values,
    of(
      runs.map(({ count }) => count),
      "int64",
    ),
  ]);
};

/** `torch.diff` of a vector: each element without the one before. */
const difference: Native = (interpreter, args, span) => {
  const given = args.at(0);
  if (
    args.count !== 1 ||
    !(given instanceof Tensor) ||
    given.values === undefined ||
    given.shape.length !== 1
  )
    return runOperator(interpreter, "torch.diff", args, span);
  const { values } = given;
  return vector(
    interpreter,
    values.slice(1).map((value, i) => value - (values[i] ?? 0)),
    given.dtype,
    span,
  );
};

export const knownValueFunctions: Readonly<Record<string, Native>> = {
  "torch.unique": unique,
  "torch.unique_consecutive": uniqueConsecutive,
  "torch.diff": difference,
};
