# Recipe with a running count of tokens: of 63 batches in groups of eight the last seven go into the next epoch's first step.
# https://github.com/meta-pytorch/torchtune/pull/2745
import torch
import torch.nn.functional as F
from transformers import AutoModelForCausalLM


class Recipe:
    def __init__(self, name, dataloader, accumulation=8):
        self._model = AutoModelForCausalLM.from_pretrained(name).to("cuda")
        self._optimizer = torch.optim.AdamW(self._model.parameters(), lr=2e-5, fused=True)
        self._dataloader = dataloader
        self._gradient_accumulation_steps = accumulation
        self.global_step = 0

    def _loss_step(self, batch):
        labels = batch.pop("labels")
        logits = self._model(**batch).logits
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum")

    def train(self, total_epochs):
        self._optimizer.zero_grad()
        running_loss, num_tokens = 0, 0
        for curr_epoch in range(total_epochs):
            for idx, batch in enumerate(self._dataloader):
                batch = {k: v.to("cuda") for k, v in batch.items()}
                current = (batch["labels"] != -100).sum()
                num_tokens += current
                loss = self._loss_step(batch)
                running_loss += loss.detach()
                loss.backward()
                if (idx + 1) % self._gradient_accumulation_steps == 0:  # expect: accumulation-last-group
                    for p in self._model.parameters():
                        p.grad.mul_(1 / num_tokens)
                    self._optimizer.step()
                    self._optimizer.zero_grad(set_to_none=True)
                    self.global_step += 1
                    print(running_loss.item() / num_tokens)
                    running_loss, num_tokens = 0, 0
