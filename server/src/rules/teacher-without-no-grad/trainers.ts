/** Subclasses of Transformers' `Trainer` that compute their loss themselves: the backward is the library's. */
import { isOnlyBoundBy } from "../../python/scope";
import type { ClassDefinition, Expression, FunctionDefinition, Return } from "../../python/tree";
import type { TorchFacts } from "../../torch/facts";
import { mayBeFrozen } from "../../torch/may-be-frozen";
import { isSuper } from "../../torch/resolve-index";

export interface TrainerLoss {
  readonly owner: ClassDefinition;
  readonly method: FunctionDefinition;
  readonly returned: readonly { readonly at: Return; readonly value: Expression }[];
}

/** Those of TRL keep and freeze reference models of their own. */
const trainerBase = /^transformers\.(.*\.)?(Seq2Seq)?Trainer$/;

/**
 * What `compute_loss` gives: `Trainer.training_step` walks its graph and `create_optimizer` trains the parameters of
 * `self.model` alone (transformers/trainer.py). Nothing where the class makes its optimizer or takes its steps itself.
 */
export function trainerLosses({ resolve }: TorchFacts): readonly TrainerLoss[] {
  if (!resolve.index.functionNames.has("compute_loss")) return [];
  return resolve.index.classes.flatMap((owner) => {
    const method = resolve.methodOf(owner, "compute_loss");
    if (method === undefined || resolve.enclosingClass(method) !== owner) return [];
    if (!resolve.basesOf(owner).some((base) => trainerBase.test(base))) return [];
    const takesOver = ["create_optimizer", "create_optimizer_and_scheduler", "training_step"];
    if (takesOver.some((name) => resolve.methodOf(owner, name) !== undefined)) return [];
    const returned = (resolve.index.returns.get(method) ?? []).flatMap((at) => {
      if (at.kind !== "Return" || at.value === undefined) return [];
      return lossesIn(at.value).map((value) => ({ at, value }));
    });
    return [{ owner, method, returned }];
  });
}

/** `loss` of `return (loss, outputs) if return_outputs else loss`. */
function lossesIn(value: Expression): readonly Expression[] {
  if (value.kind === "Conditional") return [...lossesIn(value.body), ...lossesIn(value.orelse)];
  return value.kind === "Tuple" ? value.elements.slice(0, 1) : [value];
}

/**
 * The model is an attribute that the class was given or made for itself: not the one that `Trainer` trains, no part of that
 * one, and nothing that any way to it may have frozen.
 */
export function isBesideTrained(torch: TorchFacts, model: Expression, owner: ClassDefinition): boolean {
  const { resolve } = torch;
  if (model.kind !== "Attribute" || model.object.kind !== "Name") return false;
  if (resolve.classOfSelf(model.object) !== owner || model.attribute.id === "model") return false;
  const values = resolve.valuesOf(model);
  return values.length > 0 && values.every((value) => isOwn(torch, value));
}

function isOwn(torch: TorchFacts, value: Expression): boolean {
  const { resolve, scopes } = torch;
  switch (value.kind) {
    case "None":
      return true;
    case "Name":
      return (
        isOnlyBoundBy(scopes.lookup(value), ({ kind, value: bound }) => {
          if (kind === "parameter") return true;
          return bound !== undefined && isOwn(torch, bound);
        }) &&
        !mayBeFrozen(torch, value) &&
        !isHandedToTrainer(torch, value)
      );
    case "Call": {
      const { callee } = value;
      if (resolve.functionOf(value) !== undefined) return false;
      // `teacher.to(device)`, `teacher.eval()`.
      if (callee.kind === "Attribute" && /^(to|cuda|eval|train)$/.test(callee.attribute.id))
        return isOwn(torch, callee.object);
      return resolve.imported.functionOf(value) === undefined && resolve.roleOf(value) === "model";
    }
    default:
      return false;
  }
}

/** `super().__init__(model, …)`: that is the one which is trained. */
function isHandedToTrainer({ resolve }: TorchFacts, model: Expression): boolean {
  const key = resolve.keyOf(model);
  return (resolve.index.callsByName.get("__init__") ?? []).some(
    ({ callee, positional, keywords }) =>
      callee.kind === "Attribute" &&
      isSuper(callee.object) &&
      [...positional, ...keywords.map((keyword) => keyword.value)].some((one) => resolve.keyOf(one) === key),
  );
}
