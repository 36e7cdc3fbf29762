import lightning as L
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, random_split
from torchvision import transforms
from torchvision.datasets import FakeData


class Digits(L.LightningModule):
    def __init__(self, hidden=32, lr=1e-3):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(28 * 28, hidden), nn.ReLU(), nn.Linear(hidden, 10))

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        self.log("train_loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)


def main():
    data = FakeData(100, (1, 28, 28), 10, transform=transforms.ToTensor())
    train, val = random_split(data, [80, 20])
    trainer = L.Trainer(max_epochs=1, logger=False, enable_checkpointing=False, accelerator="cpu")
    trainer.fit(Digits(), DataLoader(train, batch_size=16), DataLoader(val, batch_size=16))


if __name__ == "__main__":
    main()
