/** Labels of which a script says nothing but that a loss is computed with them. */
import { Tensor } from "../../tensor";
import { isUnknown, type Unknown } from "../../unknown";
import { CallArguments } from "../arguments";
import type { Interpreter } from "../interpreter";
import { classNumbers } from "../losses";
import type { Value } from "../values";

/** Losses that take class numbers, called by the script. */
const calledWithClasses = /^torch\.nn\.(CrossEntropyLoss|NLLLoss|functional\.(cross_entropy|nll_loss))$/;

/**
 * The arguments of a call in a script's own iteration. Labels that are read from somewhere, such as the names of files, are
 * not known: where a loss takes class numbers they are that, which says all about their size. What else is computed with
 * them in later iterations, such as the accuracy, has them too.
 */
export function withLabels(interpreter: Interpreter, name: string, args: CallArguments): CallArguments {
  const { training } = interpreter;
  if (training === undefined || args.unknown() === undefined) return args;
  if (calledWithClasses.test(name)) learnLabels(interpreter, args);
  if (training.labels.size === 0) return args;
  const known = (value: Value): Value => (isUnknown(value) ? labelsOf(interpreter, value) : value);
  return new CallArguments(
    args.positional.map(known),
    new Map([...args.keywords].map(([key, value]) => [key, known(value)])),
    args.unknownKeywords,
  );
}

function learnLabels({ training }: Interpreter, args: CallArguments): void {
  const [output, target] = [args.get(0, "input"), args.get(1, "target")];
  if (!(output instanceof Tensor) || target === undefined || !isUnknown(target)) return;
  training?.labels.set(target, classNumbers(output.shape));
}

/** The labels as a tensor of this moment; what is not known stays so. */
function labelsOf({ execution, references, training }: Interpreter, value: Unknown): Value {
  const labels = training?.labels.get(value);
  if (labels === undefined) return value;
  const { shape, classes } = labels;
  return references.own(execution.unobserved(() => execution.input(shape, "int64", classes)));
}
