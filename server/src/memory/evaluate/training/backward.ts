/** `Tensor.backward`. */
import { Tensor } from "../../tensor";
import { isUnknown } from "../../unknown";
import type { Native } from "../values";

/** `loss.backward()`; the receiver first. */
export const backward: Native = (interpreter, args, span) => {
  const [loss, gradient] = [args.at(0) ?? null, args.or(1, "gradient", null)];
  if (interpreter.training === undefined)
    return interpreter.unknown("unsupported", span, { what: "backward" });
  if (!(loss instanceof Tensor)) {
    interpreter.note(isUnknown(loss) ? loss : interpreter.unknown("call", span, { name: "backward" }));
    return null;
  }
  const makesGraph = args.or(3, "create_graph", false) === true;
  if (makesGraph) interpreter.note(interpreter.unknown("doubleBackward", span, { name: "backward" }));
  interpreter.training.backward(loss, {
    ...(gradient instanceof Tensor ? { gradient } : {}),
    retainGraph: makesGraph || args.or(2, "retain_graph", false) === true,
  });
  return null;
};
