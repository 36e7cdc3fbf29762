# Lists of a LightningModule that something empties, holds few of, or that its framework fills without a graph.
from collections import deque

import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch import nn


class Classifier(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 3))
        self.training_step_outputs = []
        self.validation_step_outputs = []
        self.recent = deque(maxlen=10)
        self.by_stage = {"train": []}
        self.epoch_loss = 0.0
        self.examples = []
        self.emptied_by_callback = []

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self.net(x), y)
        self.training_step_outputs.append(loss)
        self.recent.append(loss)
        self.by_stage["train"].append(loss)
        self.epoch_loss += loss
        self.emptied_by_callback.append(loss)
        if batch_idx == 0:
            self.examples.append(loss)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.validation_step_outputs.append(F.cross_entropy(self.net(x), y))

    def on_train_epoch_end(self):
        self.log("train_loss", torch.stack(self.training_step_outputs).mean())
        self.training_step_outputs.clear()
        self.by_stage["train"] = []
        self.epoch_loss = 0.0

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


class Printer(pl.Callback):
    def on_train_epoch_end(self, trainer, pl_module):
        print(len(pl_module.emptied_by_callback))
        del pl_module.emptied_by_callback[:]
