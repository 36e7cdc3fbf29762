/**
 * Python floats whose value only a run can know: `lam = random.random()`, `loss.item()`. What is weighted with one is as large
 * whatever it is; where a size or a branch depends on it, it is not known like anything else.
 */
import type { BinaryOperator } from "../../python/tree";
import { isUnknown, Unknown } from "../unknown";
import { CallArguments } from "./arguments";
import { Float, type Value } from "./values";

export class UnknownFloat extends Unknown {}

export function unknownFloat({ reason, span }: Unknown): UnknownFloat {
  return new UnknownFloat(reason, span);
}

/** Of an arithmetic with one of them; undefined where there is none. Not a float where the other operand is no number. */
export function withUnknownFloat(operator: BinaryOperator, left: Value, right: Value): Value | undefined {
  const [float, other] = left instanceof UnknownFloat ? [left, right] : [right, left];
  if (!(float instanceof UnknownFloat)) return undefined;
  const isNumber =
    typeof other === "number" ||
    typeof other === "boolean" ||
    other instanceof Float ||
    other instanceof UnknownFloat;
  if (isNumber && arithmetic.has(operator)) return float;
  return isUnknown(other) ? other : new Unknown(float.reason, float.span);
}

const arithmetic: ReadonlySet<BinaryOperator> = new Set<BinaryOperator>([
  "+",
  "-",
  "*",
  "/",
  "//",
  "%",
  "**",
]);

/** Methods and functions that keep nothing of a number they are given, and whose results are as large whatever it is. */
const weighing = new Set(
  ["add", "sub", "mul", "truediv"]
    .flatMap((name) => [`Tensor.__${name}__`, `Tensor.__r${name}__`, `Tensor.__i${name}__`])
    .concat(
      ["add", "sub", "mul", "div", "lerp"].flatMap((name) => [
        `Tensor.${name}`,
        `Tensor.${name}_`,
        `torch.${name}`,
      ]),
    ),
);

/** Any float does for the sizes. */
const example = new Float(0.5);

/** The call with a number in the place of each unknown one; undefined where there is none, or where it may matter. */
export function withExampleFloats(name: string, args: CallArguments): CallArguments | undefined {
  if (!weighing.has(name)) return undefined;
  const isOne = (value: Value): boolean => value instanceof UnknownFloat;
  if (!args.positional.some(isOne) && ![...args.keywords.values()].some(isOne)) return undefined;
  const replaced = (value: Value): Value => (isOne(value) ? example : value);
  const keywords = new Map([...args.keywords].map(([key, value]) => [key, replaced(value)] as const));
  return new CallArguments(args.positional.map(replaced), keywords, args.unknownKeywords);
}
