# A drafter's training dropped the trailing micro-batches: the next epoch's zero_grad wiped them.
# https://github.com/NVIDIA-NeMo/Automodel/pull/2257
import torch
import torch.nn as nn


class TrainDraft:
    def __init__(self, drafter: nn.Module, dataloader, grad_accumulation_steps=8):
        self.trainer_module = drafter.cuda()
        self.dataloader = dataloader
        self.grad_accumulation_steps = grad_accumulation_steps
        self.optimizer = torch.optim.AdamW(drafter.parameters(), lr=1e-4)
        self.lr_scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, 10_000)

    def run_train_loop(self, num_epochs):
        for epoch in range(num_epochs):
            self.optimizer.zero_grad(set_to_none=True)
            for batch_idx, batch in enumerate(self.dataloader):
                batch = {k: v.cuda() for k, v in batch.items()}
                loss = self.trainer_module(**batch).loss / self.grad_accumulation_steps
                loss.backward()
                if (batch_idx + 1) % self.grad_accumulation_steps == 0:  # expect: accumulation-last-group
                    torch.nn.utils.clip_grad_norm_(self.trainer_module.parameters(), 1.0)
                    self.optimizer.step()
                    self.lr_scheduler.step()
                    self.optimizer.zero_grad(set_to_none=True)
