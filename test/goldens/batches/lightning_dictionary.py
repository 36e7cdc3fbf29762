import lightning.pytorch as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Readings(Dataset):
    def __len__(self):
        return 50

    def __getitem__(self, index):
        return {"values": torch.rand(24, 7), "mask": torch.ones(24, dtype=torch.bool), "target": float(index)}


class Regressor(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(7, 1)

    def training_step(self, batch):
        weights = batch["mask"].unsqueeze(-1)
        predicted = (self.layer(batch["values"]) * weights).sum((1, 2))
        return nn.functional.mse_loss(predicted, batch["target"].float())

    def train_dataloader(self):
        return DataLoader(Readings(), batch_size=10)

    def configure_optimizers(self):
        return [torch.optim.AdamW(self.parameters())], []


model = Regressor()
trainer = pl.Trainer(max_epochs=1, logger=False, enable_checkpointing=False, accelerator="cpu")
trainer.fit(model)
