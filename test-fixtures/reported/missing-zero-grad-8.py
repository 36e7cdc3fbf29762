# A learner of rollouts with optimizer and scheduler in one container: zeroing was left out after each step.
# https://github.com/meta-pytorch/torchforge/pull/71
import torch
from torch import nn
from torch.nn import functional as F


class RLTrainer:
    def __init__(self, model: nn.Module, total_steps: int):
        self.model = model.to("cuda")
        self.optimizers = torch.optim.AdamW(self.model.parameters(), lr=1e-5)
        self.lr_schedulers = torch.optim.lr_scheduler.LinearLR(self.optimizers, total_iters=total_steps)
        self.current_step = 0
        self.num_training_steps = total_steps

    def forward_backward(self, input_dict, labels):
        pred = self.model(input_dict["tokens"])
        loss = F.cross_entropy(pred.flatten(0, 1), labels.flatten())
        del pred
        loss.backward()
        return loss

    def train_step(self, batch):
        loss = self.forward_backward({"tokens": batch["tokens"].cuda()}, batch["labels"].cuda())
        self.optimizers.step()  # expect: missing-zero-grad
        self.lr_schedulers.step()
        self.current_step += 1
        return loss.detach()

    def train(self, dataloader):
        iterator = iter(dataloader)
        while self.current_step < self.num_training_steps:
            batch = next(iterator)
            self.train_step(batch)
