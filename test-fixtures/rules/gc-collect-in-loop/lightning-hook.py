import gc

import lightning.pytorch as pl
import torch
from torch import nn


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 2)

    def training_step(self, batch, batch_idx):
        return self.head(batch).mean()

    def on_train_batch_end(self, outputs, batch, batch_idx):
        gc.collect()  # expect: gc-collect-in-loop

    def on_train_epoch_end(self):
        gc.collect()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())
