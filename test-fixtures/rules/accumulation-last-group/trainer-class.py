# The guard stands in a method that gets the index.
import torch
from torch import nn


class Trainer:
    def __init__(self, model, loader, accumulate=8):
        self.model = model
        self.loader = loader
        self.accumulate = accumulate
        self.opt = torch.optim.AdamW(self.model.parameters())

    def maybe_update(self, index):
        ready = (index + 1) % self.accumulate == 0  # expect: accumulation-last-group
        if not ready:
            return
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.opt.step()
        self.opt.zero_grad(set_to_none=True)

    def epoch(self):
        for index, batch in enumerate(self.loader):
            loss = self.model(batch).square().mean()
            (loss / self.accumulate).backward()
            self.maybe_update(index)

    def fit(self, epochs):
        for _ in range(epochs):
            self.epoch()


Trainer(nn.Linear(4, 1), torch.randn(1001, 8, 4)).fit(3)
