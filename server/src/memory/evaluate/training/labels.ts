/** Labels of which a script says nothing but that a loss is computed with them. */
import { Tensor, type Dtype } from "../../tensor";
import { isUnknown, type Unknown } from "../../unknown";
import { CallArguments } from "../arguments";
import type { Interpreter } from "../interpreter";
import { classNumbers } from "../losses";
import type { Value } from "../values";

/** A target as the loss that takes it says it. */
export interface Labels {
  readonly shape: readonly number[];
  readonly dtype: Dtype;
  /** Whole numbers are below this. */
  readonly bound: number | undefined;
}

/** Losses that compare the output with a target of the same shape. */
const calledWithTheLike =
  /^torch\.nn\.((MSE|L1|SmoothL1|Huber|BCE|BCEWithLogits)Loss|functional\.(mse|l1|smooth_l1|huber)_loss|functional\.binary_cross_entropy(_with_logits)?)$/;

/** Losses that take class numbers, called by the script. */
const calledWithClasses = /^torch\.nn\.(CrossEntropyLoss|NLLLoss|functional\.(cross_entropy|nll_loss))$/;

/**
 * The arguments of a call in a script's own iteration. Labels that are read from somewhere, such as the names of files, are
 * not known: where a loss takes class numbers they are that, which says all about their size; where it compares a part of a
 * batch that the header leaves open, that is as large as the output. What else is computed with them in later iterations, such as the accuracy, has them too.
 */
export function withLabels(interpreter: Interpreter, name: string, args: CallArguments): CallArguments {
  const { training } = interpreter;
  if (training === undefined || args.unknown() === undefined) return args;
  const isOfClasses = calledWithClasses.test(name);
  if (isOfClasses || calledWithTheLike.test(name)) learnLabels(interpreter, args, isOfClasses);
  if (training.labels.size === 0) return args;
  const known = (value: Value): Value => (isUnknown(value) ? labelsOf(interpreter, value) : value);
  return new CallArguments(
    args.positional.map(known),
    new Map([...args.keywords].map(([key, value]) => [key, known(value)])),
    args.unknownKeywords,
  );
}

function learnLabels({ training }: Interpreter, args: CallArguments, isOfClasses: boolean): void {
  const [output, target] = [args.get(0, "input"), args.get(1, "target")];
  if (!(output instanceof Tensor) || target === undefined || !isUnknown(target)) return;
  // what is compared may be anything that is computed of the unknown, unless it is a part of a batch by itself
  if (!isOfClasses && training?.given?.isPart(target) !== true) return;
  const { shape, classes } = classNumbers(output.shape);
  const labels: Labels = isOfClasses
    ? { shape, dtype: "int64", bound: classes }
    : { shape: output.shape, dtype: output.dtype, bound: undefined };
  training?.labels.set(target, labels);
}

/** The labels as a tensor of this moment; what is not known stays so. */
function labelsOf({ execution, references, training }: Interpreter, value: Unknown): Value {
  const labels = training?.labels.get(value);
  if (labels === undefined) return value;
  const { shape, dtype, bound } = labels;
  return references.own(execution.unobserved(() => execution.input(shape, dtype, bound)));
}
