# In a method that a loop over epochs calls, in a class with its own loop, in Lightning's hooks, and one that nobody computes.
import lightning as L
import torch
import torchmetrics
from torch import nn
from torchmetrics.classification import BinaryAUROC, MulticlassAccuracy


class Trainer:
    def __init__(self, model):
        self.model = model.cuda()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.auroc = BinaryAUROC().cuda()

    def validate(self, val_loader):
        with torch.no_grad():
            for x, y in val_loader:
                self.auroc.update(self.model(x.cuda()).squeeze(1), y.cuda())
        return self.auroc.compute().item()  # expect: metric-state-kept

    def fit(self, train_loader, val_loader):
        for epoch in range(10):
            for x, y in train_loader:
                self.optimizer.zero_grad()
                nn.functional.binary_cross_entropy_with_logits(self.model(x.cuda()).squeeze(1), y.cuda()).backward()
                self.optimizer.step()
            print(epoch, self.validate(val_loader))


class Classifier(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(512, 10)
        self.accuracy = MulticlassAccuracy(num_classes=10)
        self.calibration = torchmetrics.CalibrationError(task="multiclass", num_classes=10)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.cross_entropy(self.net(x), y)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        logits = self.net(x)
        self.accuracy(logits, y)
        self.log("calibration", self.calibration(logits.softmax(dim=1), y))  # expect: metric-state-kept

    def on_validation_epoch_end(self):
        self.log("accuracy", self.accuracy.compute())  # expect: metric-state-kept

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


def with_value_of_each_batch(model, train_loader):
    auroc = torchmetrics.AUROC(task="binary")
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(10):
        for x, y in train_loader:
            optimizer.zero_grad()
            scores = model(x).squeeze(1)
            nn.functional.binary_cross_entropy_with_logits(scores, y).backward()
            optimizer.step()
            print(auroc(scores, y.int()).item())  # expect: metric-state-kept
