# Lightning calls `training_step` for each batch: what it keeps in `self` piles up unless something empties it.
import lightning as L
import torch
import torch.nn.functional as F
from torch import nn


class Classifier(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 3))
        self.losses = []
        self.history = {"loss": [], "logits": []}
        self.total = 0.0

    def training_step(self, batch, batch_idx):
        x, y = batch
        logits = self.net(x)
        loss = F.cross_entropy(logits, y)
        self.losses.append(loss)  # expect: graph-retained-after-backward
        self.history["logits"].append(logits)  # expect: graph-retained-after-backward
        self.total += loss  # expect: graph-retained-after-backward
        self.history["loss"].append(loss.detach())
        return {"loss": loss, "logits": logits.detach()}

    def on_train_epoch_end(self):
        self.log("train_loss", torch.stack(self.losses).mean())

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


class Manual(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = nn.Linear(10, 2)
        self.d_losses = []

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        loss = self.net(batch).mean()
        optimizer.zero_grad()
        self.manual_backward(loss)
        optimizer.step()
        self.d_losses.append(loss)  # expect: graph-retained-after-backward

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())
