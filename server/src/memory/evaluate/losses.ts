/** From a model's output to the loss, by the names that the `# vram:` header knows. */
import type { Span } from "../../python/tree";
import { isFloating, Tensor } from "../tensor";
import { isUnknown } from "../unknown";
import { CallArguments } from "./arguments";
import { callOperator } from "./bridge";
import { binaryOperation } from "./expressions";
import type { Interpreter } from "./interpreter";
import { DictValue, ListValue, ObjectValue, TupleValue, type Value } from "./values";

const nowhere: Span = { start: 0, end: 0 };

/** The tensors of an output, in the order of `torch.utils._pytree`. */
export function flatten(value: Value): Value[] {
  const found: Value[] = [];
  const pending: Value[] = [value];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next instanceof TupleValue || next instanceof ListValue) pending.push(...[...next.items].reverse());
    else if (next instanceof DictValue)
      pending.push(...[...next.entries.values()].map((entry) => entry.value).reverse());
    else found.push(next);
  }
  return found;
}

/** The output that is compared with the target. */
function first(output: Value): Value {
  if (output instanceof ObjectValue) {
    for (const name of ["logits", "last_hidden_state"]) {
      const value = output.attributes.get(name);
      if (value !== undefined) return value;
    }
    const values = [...output.attributes.values()];
    return values.find((value) => value instanceof Tensor) ?? output;
  }
  return flatten(output)[0] ?? null;
}

function reshape(interpreter: Interpreter, tensor: Tensor, shape: readonly number[]): Value {
  return callOperator(interpreter, "Tensor.reshape", [tensor, new TupleValue(shape)]);
}

/** Logits `[N, T, V]` with targets `[N, T]` are flattened, as scripts do before `cross_entropy`. */
function classified(interpreter: Interpreter, output: Value, target: Value): [Value, Value] {
  if (!(output instanceof Tensor) || !(target instanceof Tensor)) return [output, target];
  const [logits, labels] = [output.shape, target.shape];
  const isSequence =
    logits.length === 3 && labels.length === 2 && logits[0] === labels[0] && logits[1] === labels[1];
  if (isSequence) {
    return [reshape(interpreter, output, [-1, logits[2] ?? -1]), reshape(interpreter, target, [-1])];
  }
  if (logits.length === 2 && labels.length === 2) return [output, reshape(interpreter, target, [-1])];
  return [output, target];
}

const compared: Readonly<Record<string, { readonly operator: string; readonly classes: boolean }>> = {
  cross_entropy: { operator: "torch.nn.functional.cross_entropy", classes: true },
  nll_loss: { operator: "torch.nn.functional.nll_loss", classes: true },
  mse: { operator: "torch.nn.functional.mse_loss", classes: false },
  mse_loss: { operator: "torch.nn.functional.mse_loss", classes: false },
  l1: { operator: "torch.nn.functional.l1_loss", classes: false },
  l1_loss: { operator: "torch.nn.functional.l1_loss", classes: false },
  smooth_l1: { operator: "torch.nn.functional.smooth_l1_loss", classes: false },
  huber: { operator: "torch.nn.functional.huber_loss", classes: false },
  bce: { operator: "torch.nn.functional.binary_cross_entropy", classes: false },
  bce_with_logits: { operator: "torch.nn.functional.binary_cross_entropy_with_logits", classes: false },
  kl_div: { operator: "torch.nn.functional.kl_div", classes: false },
};

/** Whether a name of the header is one that this file knows without looking into the user's. */
export function isKnownLoss(name: string): boolean {
  return name === "sum" || name === "model" || name === "none" || Object.hasOwn(compared, name);
}

/** Whether a loss compares the output with a target whose shape follows from the output's. */
export function takesTarget(name: string): boolean {
  return name.includes(".") || Object.hasOwn(compared, name);
}

/** The sum of all outputs that need gradients. */
function total(interpreter: Interpreter, output: Value): Value {
  // without a graph, as in the iteration before, nobody can tell which of them would have one
  const isCounted = (tensor: Tensor): boolean =>
    interpreter.execution.gradEnabled ? tensor.node !== undefined : isFloating(tensor.dtype);
  const tensors = flatten(output).filter(
    (value): value is Tensor => value instanceof Tensor && isCounted(value),
  );
  let sum: Value | undefined;
  for (const tensor of tensors) {
    const one = callOperator(interpreter, "Tensor.sum", [tensor]);
    sum = sum === undefined ? one : binaryOperation(interpreter, "+", sum, one, nowhere);
  }
  return sum ?? interpreter.unknown("noOutput", interpreter.callSpan);
}

/** `forward` itself returns the loss. */
function ownLoss(interpreter: Interpreter, output: Value): Value {
  if (output instanceof Tensor) return output;
  if (output instanceof ObjectValue) return output.attributes.get("loss") ?? null;
  if (output instanceof DictValue) {
    const named = output.entries.get("sloss")?.value;
    if (named !== undefined) return named;
  }
  const scalar = flatten(output).find((value) => value instanceof Tensor && value.shape.length === 0);
  return scalar ?? interpreter.unknown("loss", interpreter.callSpan, { name: "model" });
}

/** `torch.nn.CrossEntropyLoss` or `torch.nn.functional.mse_loss`, called with the output and the target. */
function libraryLoss(
  interpreter: Interpreter,
  path: string,
  output: Value,
  targets: readonly Value[],
): Value {
  const given = new CallArguments([first(output), ...targets]);
  const type = interpreter.library.classOf(path);
  if (type === undefined) return interpreter.library.call(path, given, interpreter.callSpan);
  return interpreter.call(
    interpreter.call(type, new CallArguments([]), undefined),
    given,
    interpreter.callSpan,
  );
}

/** Losses whose targets are class numbers. */
const classLosses = /cross_?entropy|nll|CrossEntropy|NLL/;

/**
 * The target that a loss takes with this output when nobody says what it is: class numbers for the classification losses,
 * else the shape of the output.
 */
export function derivedTarget(interpreter: Interpreter, loss: string, output: Value): Value {
  const logits = first(output);
  if (!(logits instanceof Tensor)) return null;
  const { shape } = logits;
  const isClasses = classLosses.test(loss) && !/[Bb]inary|BCE/.test(loss);
  if (!isClasses) return interpreter.execution.input(shape, logits.dtype);
  const isSequence = shape.length === 3 && Object.hasOwn(compared, loss);
  const labels = isSequence ? { shape: shape.slice(0, 2), classes: shape[2] } : classNumbers(shape);
  return interpreter.execution.input(labels.shape, "int64", labels.classes);
}

/** The class numbers that go with logits `[N, C, …]`: their shape, and how many classes there are. */
export function classNumbers(logits: readonly number[]): ClassNumbers {
  return { shape: [...logits.slice(0, 1), ...logits.slice(2)], classes: logits[1] };
}

export interface ClassNumbers {
  readonly shape: readonly number[];
  readonly classes: number | undefined;
}

/**
 * The loss. `custom` is the function of the file with that name; it is called with all outputs, then all targets. Unknown
 * when the name or what it computes is not understood.
 */
export function lossOf(
  interpreter: Interpreter,
  name: string,
  custom: Value | undefined,
  output: Value,
  targets: readonly Value[],
): Value {
  if (isUnknown(output)) return output;
  if (name === "sum") return total(interpreter, output);
  if (name === "model") return ownLoss(interpreter, output);
  const known = Object.hasOwn(compared, name) ? compared[name] : undefined;
  if (known !== undefined) {
    const [target] = targets;
    if (target === undefined) return interpreter.unknown("loss", interpreter.callSpan, { name });
    const pair = known.classes ? classified(interpreter, first(output), target) : [first(output), target];
    return callOperator(interpreter, known.operator, pair);
  }
  if (name.includes(".")) return libraryLoss(interpreter, name, output, targets);
  if (custom === undefined) return interpreter.unknown("loss", interpreter.callSpan, { name });
  const outputs = output instanceof TupleValue || output instanceof ListValue ? output.items : [output];
  return interpreter.call(custom, new CallArguments([...outputs, ...targets]), interpreter.callSpan);
}
