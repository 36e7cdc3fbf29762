import lightning as L
import torch
from torch import nn


class Tagger(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 1000))
        self.validation_step_outputs = []

    def forward(self, x):
        return self.layers(x)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.cross_entropy(self(x), y)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        logits = self(x)
        self.validation_step_outputs.append(logits)  # expect: lightning-outputs-kept
        return nn.functional.cross_entropy(logits, y)

    def on_validation_epoch_end(self):
        logits = torch.cat(self.validation_step_outputs)
        self.validation_step_outputs.clear()
        self.log("entropy", torch.distributions.Categorical(logits=logits).entropy().mean())

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())
