import lightning as L
from torch import nn


class Kept(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(512, 1000)
        self.validation_outputs = []

    def validation_step(self, batch, batch_idx):
        self.validation_outputs.append(self.net(batch))


L.Trainer(accelerator="cpu", max_epochs=3).fit(Kept())
