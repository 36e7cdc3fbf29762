# An ocean emulator, before its trainer was told to take the remaining gradients at the end of an epoch.
# https://github.com/m2lines/Samudra/pull/476
import torch
import torch.nn as nn


class Trainer:
    def __init__(self, model, train_loader, gradient_accumulation_steps):
        self.model = nn.parallel.DistributedDataParallel(model.cuda())
        self.train_loader = train_loader
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
        self.loss_fn = nn.MSELoss()

    def train_one_epoch(self, epoch):
        self.model.train()
        self.optimizer.zero_grad()
        for data_iter_step, (inputs, target) in enumerate(self.train_loader):
            loss = self.loss_fn(self.model(inputs.cuda()), target.cuda())
            (loss / self.gradient_accumulation_steps).backward()
            should_step = (data_iter_step + 1) % self.gradient_accumulation_steps == 0  # expect: accumulation-last-group
            if should_step:
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.optimizer.step()
                self.optimizer.zero_grad()

    def run(self, epochs):
        for epoch in range(epochs):
            self.train_one_epoch(epoch)
