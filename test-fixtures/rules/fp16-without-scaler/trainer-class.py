from contextlib import nullcontext

import torch
from torch import nn


class Trainer:
    def __init__(self, amp):
        self.model = nn.Linear(128, 10).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        # expect-next: fp16-without-scaler
        self.context = torch.autocast(device_type="cuda", enabled=amp) if amp else nullcontext()

    def loss(self, x, y):
        with self.context:
            return nn.functional.cross_entropy(self.model(x), y)

    def fit(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            loss = self.loss(x, y)
            loss.backward()
            self.optimizer.step()
