"""Accumulation, an option, a helper that clips."""
import torch
from torch import nn
from torch.amp import GradScaler
from torch.nn.utils import clip_grad_value_


class Trainer:
    def __init__(self, model, args):
        self.model = model
        self.args = args
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.scaler = GradScaler("cuda", enabled=args.amp)

    def clip(self):
        clip_grad_value_(self.model.parameters(), self.args.clip)  # expect: clip-without-unscale

    def train(self, loader):
        for index, (x, y) in enumerate(loader):
            with torch.autocast("cuda", enabled=self.args.amp):
                loss = nn.functional.cross_entropy(self.model(x), y) / self.args.accumulate
            self.scaler.scale(loss).backward()
            if (index + 1) % self.args.accumulate == 0 or index + 1 == len(loader):
                if self.args.clip:
                    self.clip()
                self.scaler.step(self.optimizer)
                self.scaler.update()
                self.optimizer.zero_grad()
