# The training step of a Trainer that empties the cache after the forward: "training slowdowns".
# https://github.com/huggingface/transformers/issues/31372
import torch
from transformers import Trainer


class CausalTrainer(Trainer):
    def training_step(self, model, inputs, num_items_in_batch=None):
        model.train()
        inputs = self._prepare_inputs(inputs)
        with self.compute_loss_context_manager():
            loss = self.compute_loss(model, inputs)
        del inputs
        torch.cuda.empty_cache()  # expect: empty-cache-in-loop
        if self.args.n_gpu > 1:
            loss = loss.mean()
        self.accelerator.backward(loss)
        return loss.detach() / self.args.gradient_accumulation_steps
