# Emptied in one way or another, small, moved, few, of a run that comes once, or not of Lightning.
from collections import deque

import lightning as L
import torch
from torch import nn


def empty(*stores):
    for store in stores:
        store.clear()


class Emptied(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(512, 1000)
        self.cleared, self.made_anew, self.deleted, self.handed = [], [], [], []
        self.first = []
        self.second = []
        self.third = []
        self.fourth = []
        self.fifth = []
        self.sixth = []
        self.by_name = {"val": []}
        self.recent = deque(maxlen=8)
        self.other_name = []

    def validation_step(self, batch, batch_idx):
        logits = self.net(batch)
        self.first.append(logits)
        self.second.append(logits)
        self.third.append(logits)
        self.fourth.append(logits)
        self.fifth.append(logits)
        self.sixth.append(logits)
        self.by_name["val"].append(logits)
        self.recent.append(logits)
        self.other_name.append(logits)

    def on_validation_epoch_start(self):
        self.first = []

    def on_validation_epoch_end(self):
        self.second.clear()
        del self.third[:]
        while self.fourth:
            self.fourth.pop()
        empty(self.fifth)
        for store in (self.sixth,):
            store.clear()
        self.by_name["val"].clear()
        outputs = self.other_name
        outputs.clear()


class Small(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 10))
        self.wide = nn.Linear(512, 1000)
        self.logits = []
        self.losses = []
        self.numbers = []
        self.moved = []
        self.examples = []
        self.tested = []
        self.answers = []

    def validation_step(self, batch, batch_idx):
        x, y = batch
        logits = self.wide(x)
        self.logits.append(self.net(x))
        self.losses.append(nn.functional.cross_entropy(logits, y))
        self.numbers.append(logits.mean().item())
        self.moved.append(logits.cpu())
        self.answers.append(logits.argmax(dim=1))
        if batch_idx == 0:
            self.examples.append(logits)

    def test_step(self, batch, batch_idx):
        self.tested.append(self.wide(batch[0]))


class Base(L.LightningModule):
    def on_validation_epoch_end(self):
        for name in self.to_empty:
            vars(self)[name].clear()


class Derived(Base):
    to_empty = ["outputs"]

    def __init__(self):
        super().__init__()
        self.net = nn.Linear(512, 1000)
        self.outputs = []

    def validation_step(self, batch, batch_idx):
        self.outputs.append(self.net(batch))


class Plain:
    def __init__(self):
        self.net = nn.Linear(512, 1000)
        self.outputs = []

    def validation_step(self, batch, batch_idx):
        self.outputs.append(self.net(batch))
