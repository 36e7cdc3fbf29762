# How large the outputs are only the one knows who makes the network.
import lightning as L
import torch
from torch import nn


class Distilled(L.LightningModule):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, width))
        self.features = []

    def training_step(self, batch, batch_idx):
        return self.net(batch).square().mean()

    def on_train_batch_end(self, outputs, batch, batch_idx):
        with torch.no_grad():
            features = self.net(batch)
        self.features.append(features)  # expect: lightning-outputs-kept
