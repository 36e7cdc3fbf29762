/** `einops`: rearrange, repeat and reduce as the reshapes, permutations and reductions that they run. */
import type { Span } from "../../../python/tree";
import { Tensor } from "../../tensor";
import { isUnknown } from "../../unknown";
import { CallArguments } from "../arguments";
import { callOperator, runOperator } from "../bridge";
import type { Interpreter } from "../interpreter";
import { integer } from "../numbers";
import { ListValue, TupleValue, type Native, type Value } from "../values";

/** One side of a pattern: groups of axis names; `(h d)` is a group of two, `1` and `()` of none. */
type Side = readonly (readonly string[])[];

interface Pattern {
  readonly left: Side;
  readonly right: Side;
}

const patterns = new Map<string, Pattern | undefined>();

function parsePattern(text: string): Pattern | undefined {
  if (!patterns.has(text)) {
    const [left, right, more] = text.split("->").map(parseSide);
    patterns.set(
      text,
      left === undefined || right === undefined || more !== undefined ? undefined : { left, right },
    );
  }
  return patterns.get(text);
}

function parseSide(text: string): Side | undefined {
  const groups: string[][] = [];
  let open: string[] | undefined;
  for (const word of text.match(/[()]|\.\.\.|[A-Za-z_]\w*|\d+/g) ?? []) {
    if (word === "(") open = [];
    else if (word === ")") {
      groups.push(open ?? []);
      open = undefined;
    } else {
      const names = word === "1" ? [] : [word];
      if (open === undefined) groups.push(names);
      else open.push(...names);
    }
  }
  return open === undefined ? groups : undefined;
}

/** `...` stands for as many axes as the tensor has beyond those named. */
function expanded({ left, right }: Pattern, rank: number): Pattern {
  const isDots = (group: readonly string[]): boolean => group.length === 1 && group[0] === "...";
  const extra = Math.max(0, rank - left.filter((group) => !isDots(group)).length);
  const axes = Array.from({ length: extra }, (_, i) => `...${i}`);
  const spread = (side: Side): Side =>
    side.flatMap((group) =>
      isDots(group)
        ? axes.map((axis) => [axis])
        : [group.flatMap((name) => (name === "..." ? axes : [name]))],
    );
  return { left: spread(left), right: spread(right) };
}

/** The size of every axis; undefined when they do not follow from the shape and the sizes given. */
function sizesOf(
  left: Side,
  shape: readonly number[],
  given: ReadonlyMap<string, number>,
): Map<string, number> | undefined {
  if (left.length !== shape.length) return undefined;
  const sizes = new Map(given);
  for (const [i, group] of left.entries()) {
    const open = group.filter((name) => !sizes.has(name));
    const known = group.reduce((product, name) => product * (sizes.get(name) ?? 1), 1);
    const whole = shape[i] ?? 1;
    const [only] = open;
    if (open.length > 1 || known === 0 || (open.length === 0 ? known !== whole : whole % known !== 0))
      return undefined;
    if (only !== undefined) sizes.set(only, whole / known);
  }
  return sizes;
}

function product(group: readonly string[], sizes: ReadonlyMap<string, number>): number {
  return group.reduce((total, name) => total * (sizes.get(name) ?? 1), 1);
}

type Operation = "rearrange" | "repeat" | "reduce";

/** `reduce`'s third argument by the operator that it is. */
const reductions: Readonly<Record<string, string>> = {
  mean: "Tensor.mean",
  sum: "Tensor.sum",
  max: "Tensor.amax",
  min: "Tensor.amin",
};

function apply(
  interpreter: Interpreter,
  operation: Operation,
  tensor: Tensor,
  text: string,
  args: CallArguments,
  how: Value,
): Value {
  const parsed = parsePattern(text);
  const fault = (): Value =>
    interpreter.note(
      args.unknown() ?? interpreter.unknown("call", interpreter.callSpan, { name: `einops.${operation}` }),
    );
  if (parsed === undefined) return fault();
  const given = new Map<string, number>();
  for (const [name, value] of args.keywords) {
    const size = integer(value);
    if (size === undefined) return fault();
    given.set(name, size);
  }
  const { left, right } = expanded(parsed, tensor.shape.length);
  const sizes = sizesOf(left, tensor.shape, given);
  if (sizes === undefined) return fault();
  const axes = left.flat();
  const wanted = right.flat();
  const resize = (value: Value, method: string, shape: readonly number[]): Value =>
    callOperator(interpreter, method, [value, new TupleValue(shape)]);

  let value: Value = left.every((group) => group.length === 1)
    ? tensor
    : resize(
        tensor,
        "Tensor.reshape",
        axes.map((name) => sizes.get(name) ?? 1),
      );
  if (operation === "reduce") {
    const method = typeof how === "string" ? reductions[how] : undefined;
    const gone = axes.map((name, i) => (wanted.includes(name) ? -1 : i)).filter((axis) => axis >= 0);
    if (method === undefined) return fault();
    if (gone.length > 0) value = callOperator(interpreter, method, [value, new TupleValue(gone)]);
  }
  const kept = axes.filter((name) => wanted.includes(name));
  if (operation !== "reduce" && kept.length !== axes.length) return fault();
  const order = wanted.filter((name) => kept.includes(name)).map((name) => kept.indexOf(name));
  if (order.some((axis, i) => axis !== i)) value = resize(value, "Tensor.permute", order);
  if (operation === "repeat") {
    for (const [i, name] of wanted.entries()) {
      if (!kept.includes(name)) value = callOperator(interpreter, "Tensor.unsqueeze", [value, i]);
    }
    value = resize(
      value,
      "Tensor.expand",
      wanted.map((name) => sizes.get(name) ?? 1),
    );
  }
  if (isUnknown(value) || right.every((group) => group.length === 1)) return value;
  return resize(
    value,
    "Tensor.reshape",
    right.map((group) => product(group, sizes)),
  );
}

function einops(operation: Operation): Native {
  return (interpreter, args, span) => {
    const [given, text] = [args.at(0) ?? null, args.at(1)];
    const how = operation === "reduce" ? args.or(2, "reduction", null) : null;
    const tensor =
      given instanceof ListValue || given instanceof TupleValue
        ? callOperator(interpreter, "torch.stack", [given])
        : given;
    const keywords = new Map([...args.keywords].filter(([name]) => name !== "reduction"));
    if (tensor instanceof Tensor && typeof text === "string") {
      return apply(interpreter, operation, tensor, text, new CallArguments([], keywords), how);
    }
    return interpreter.note(
      args.unknown() ?? interpreter.unknown("call", span, { name: `einops.${operation}` }),
    );
  };
}

/** `einops.layers.torch`: the operation on a tensor with the pattern and the sizes that the layer was made with. */
export function runEinops(
  operation: Operation,
  interpreter: Interpreter,
  tensor: Value,
  made: CallArguments,
  span: Span | undefined,
): Value {
  return einops(operation)(interpreter, new CallArguments([tensor, ...made.positional], made.keywords), span);
}

export const einopsFunctions: Readonly<Record<string, Native>> = {
  "einops.rearrange": einops("rearrange"),
  "einops.repeat": einops("repeat"),
  "einops.reduce": einops("reduce"),
  "einops.einsum": (interpreter, args) =>
    runOperator(
      interpreter,
      "torch.einsum",
      new CallArguments([spelled(args.positional.at(-1)), ...args.positional.slice(0, -1)]),
    ),
};

/** `einops.einsum` names axes in words; `torch.einsum` in letters. */
function spelled(pattern: Value | undefined): Value {
  if (typeof pattern !== "string") return pattern ?? null;
  const letters = new Map<string, string>();
  return pattern
    .replace(/[A-Za-z_]\w*/g, (word) => {
      const letter = letters.get(word) ?? String.fromCharCode(97 + letters.size);
      letters.set(word, letter);
      return letter;
    })
    .replace(/ /g, "");
}
