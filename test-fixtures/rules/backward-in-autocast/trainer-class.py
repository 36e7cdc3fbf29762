"""A context in `self`, a condition, a decorator, another context beside it."""
from contextlib import nullcontext

import torch
from torch import nn


class Trainer:
    def __init__(self, model, amp):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        self.context = torch.autocast("cuda", dtype=torch.bfloat16) if amp else nullcontext()

    def train(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            with self.context:
                loss = nn.functional.mse_loss(self.model(x), y)
                loss.backward()  # expect: backward-in-autocast
            self.optimizer.step()

    @torch.autocast("cuda", dtype=torch.bfloat16)
    def train_step(self, x, y):
        self.optimizer.zero_grad()
        loss = nn.functional.mse_loss(self.model(x), y)
        if torch.isfinite(loss):
            loss.backward()  # expect: backward-in-autocast
        self.optimizer.step()

    def accumulate(self, batches):
        self.optimizer.zero_grad()
        for x, y in batches:
            with self.model.no_sync(), torch.autocast("cuda", dtype=torch.bfloat16):
                loss = nn.functional.mse_loss(self.model(x), y) / len(batches)
                loss.backward()  # expect: backward-in-autocast
        self.optimizer.step()
