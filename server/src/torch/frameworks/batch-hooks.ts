/** Methods that a framework calls once a batch: their code is in a loop that nobody sees in the file. */
import type { FunctionDefinition } from "../../python/tree";
import type { FrameworkFacts, FrameworkName } from "../frameworks";
import type { Resolver } from "../resolve";

/**
 * By framework; Lightning: https://lightning.ai/docs/pytorch/stable/common/lightning_module.html#hooks, Trainer:
 * https://huggingface.co/docs/transformers/main_classes/callback and `Trainer.training_step`.
 */
const hooks: Readonly<Partial<Record<FrameworkName, readonly string[]>>> = {
  lightning: [
    "training_step",
    "validation_step",
    "test_step",
    "predict_step",
    "on_train_batch_start",
    "on_train_batch_end",
    "on_validation_batch_start",
    "on_validation_batch_end",
    "on_test_batch_end",
    "on_before_zero_grad",
    "on_before_backward",
    "on_after_backward",
    "optimizer_step",
  ],
  "hf-trainer": ["training_step", "compute_loss", "prediction_step"],
};

/** The hook's name when the function is one that runs once a batch. */
export function frameworkHookAround(
  torch: { readonly resolve: Resolver; readonly frameworks: FrameworkFacts },
  target: FunctionDefinition,
): string | undefined {
  const owner = torch.resolve.enclosingClass(target);
  if (owner === undefined) return undefined;
  const framework = torch.frameworks.ofClass(owner);
  const name = framework?.name === "lightning-manual" ? "lightning" : framework?.name;
  return name !== undefined && hooks[name]?.includes(target.name.id) === true ? target.name.id : undefined;
}
