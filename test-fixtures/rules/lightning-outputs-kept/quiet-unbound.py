"""`outputs` of a star import is not what the step gave."""
import lightning as L
import torch
from torch import nn

from .shared import *


class Classifier(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(512, 4096)
        self.kept = []

    def validation_step(self, batch, batch_idx):
        return {"logits": self.net(batch)}

    def on_validation_batch_end(self, *given):
        self.kept.append(outputs["logits"])
