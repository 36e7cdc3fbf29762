"""Two or three modes, by a setting: no pile of losses."""
import pytorch_lightning as pl
import torch
from torch import nn


class Fusion(pl.LightningModule):
    def __init__(self, use_text):
        super().__init__()
        self.use_text = use_text
        self.net = nn.Linear(64, 2)
        self.automatic_optimization = False

    def training_step(self, batch, batch_idx):
        modes = ["audio", "video", "text"] if self.use_text else ["audio", "video"]
        losses = {}
        for mode in modes:
            loss = self.net(batch[mode]).pow(2).mean()
            losses[mode] = loss
            self.manual_backward(loss)
            self.optimizers().step()
            self.optimizers().zero_grad()
        self.log("loss", sum(losses.values()))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())
