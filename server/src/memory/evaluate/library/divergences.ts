/** `torch.distributions.kl_divergence` of two distributions of the same kind. Source: torch/distributions/kl.py of PyTorch 2.13. */
import type { Span } from "../../../python/tree";
import { CallArguments } from "../arguments";
import { runOperator } from "../bridge";
import type { Interpreter } from "../interpreter";
import { Float, ObjectValue, type Native, type Value } from "../values";
import { compute, locally, op, part } from "./distribution-base";
import { reinterpreted, sumOfEvents } from "./distributions";

type Divergence = (interpreter: Interpreter, p: ObjectValue, q: ObjectValue, span: Span | undefined) => Value;

const ofNormals: Divergence = (interpreter, p, q) => {
  const of = (self: ObjectValue, name: string): Value => part(interpreter, self, name);
  const ratio = compute(interpreter, op("pow", op("__truediv__", of(p, "scale"), of(q, "scale")), 2));
  const distance = op("__truediv__", op("__sub__", of(p, "loc"), of(q, "loc")), of(q, "scale"));
  const squares = compute(interpreter, op("pow", distance, 2));
  const sum = op("__sub__", op("__sub__", op("__add__", ratio, squares), 1), op("log", ratio));
  return compute(interpreter, op("__mul__", sum, new Float(0.5)));
};

/** Where a probability is zero the product is set: a mask of the product's shape for each of the two. */
const ofCategoricals: Divergence = (interpreter, p, q, span) => {
  const difference = (): Value =>
    compute(interpreter, op("__sub__", part(interpreter, p, "logits"), part(interpreter, q, "logits")));
  const { references } = interpreter;
  const probs = part(interpreter, p, "probs");
  const mark = references.mark();
  const product = compute(interpreter, op("__mul__", probs, difference()));
  references.settle(mark, product);
  for (const [distribution, filled] of [
    [q, Infinity],
    [p, 0],
  ] as const) {
    const zeros = op("__eq__", part(interpreter, distribution, "probs"), 0);
    const held = references.mark();
    const mask = compute(interpreter, op("expand_as", zeros, product));
    runOperator(
      interpreter,
      "Tensor.__setitem__",
      new CallArguments([product, mask, new Float(filled)]),
      span,
    );
    references.releaseTo(held);
  }
  return compute(interpreter, op("sum", product, -1));
};

const ofIndependents: Divergence = (interpreter, p, q, span) => {
  if (reinterpreted(interpreter, p) !== reinterpreted(interpreter, q))
    return notUnderstood(interpreter, span);
  const bases = [part(interpreter, p, "base_dist"), part(interpreter, q, "base_dist")];
  return sumOfEvents(interpreter, p, divergence(interpreter, new CallArguments(bases), span));
};

const kinds: Readonly<Record<string, Divergence>> = {
  Normal: ofNormals,
  Categorical: ofCategoricals,
  Independent: ofIndependents,
};

function notUnderstood(interpreter: Interpreter, span: Span | undefined): Value {
  return interpreter.note(interpreter.unknown("call", span, { name: "torch.distributions.kl_divergence" }));
}

const divergence: Native = locally((interpreter, args, span) => {
  const [p, q] = [args.or(0, "p", null), args.or(1, "q", null)];
  const unknown = args.unknown();
  if (unknown !== undefined) return interpreter.note(unknown);
  if (!(p instanceof ObjectValue) || !(q instanceof ObjectValue)) return notUnderstood(interpreter, span);
  for (const [name, run] of Object.entries(kinds)) {
    const type = interpreter.library.classOf(`torch.distributions.${name}`);
    if (type !== undefined && p.type.isSubclassOf(type) && q.type.isSubclassOf(type))
      return run(interpreter, p, q, span);
  }
  return notUnderstood(interpreter, span);
});

export const divergenceFunctions: Readonly<Record<string, Native>> = {
  "torch.distributions.kl_divergence": divergence,
};
