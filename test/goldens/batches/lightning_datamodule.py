import pytorch_lightning as pl
import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms


class Pictures(pl.LightningDataModule):
    def __init__(self, folder="pictures", batch_size=4, size=64):
        super().__init__()
        self.save_hyperparameters()
        self.batch_size = batch_size
        self.transform = transforms.Compose([transforms.Resize((size, size)), transforms.ToTensor()])

    def setup(self, stage=None):
        if stage in (None, "fit"):
            self.train_set = datasets.ImageFolder(self.hparams.folder, self.transform)

    def train_dataloader(self):
        return DataLoader(self.train_set, self.batch_size, shuffle=True)


class Classifier(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Linear(8, 2)
        self.loss = nn.CrossEntropyLoss()

    def training_step(self, batch, batch_idx):
        images, labels = batch
        return {"loss": self.loss(self.head(self.body(images)), labels)}

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


data = Pictures(batch_size=6)
trainer = pl.Trainer(max_epochs=1, logger=False, enable_checkpointing=False, accelerator="cpu")
trainer.fit(Classifier(), datamodule=data)
