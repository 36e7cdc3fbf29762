# A collection of metrics, its copies with prefixes, and one whose curve keeps all predictions.
import lightning as L
import torch
from torch import nn
from torchmetrics import MetricCollection
from torchmetrics.classification import BinaryAUROC, MulticlassAccuracy, MulticlassF1Score


def plain(model, loader):
    metrics = MetricCollection([MulticlassAccuracy(10), MulticlassF1Score(10)]).cuda()
    for epoch in range(10):
        with torch.no_grad():
            for x, y in loader:
                metrics.update(model(x.cuda()), y.cuda())
        print(metrics.compute())  # expect: metric-state-kept


def cloned(model, loader):
    metrics = MetricCollection({"acc": MulticlassAccuracy(10), "f1": MulticlassF1Score(10)}).cuda()
    val_metrics = metrics.clone(prefix="val/")
    for epoch in range(10):
        with torch.no_grad():
            for x, y in loader:
                val_metrics.update(model(x.cuda()), y.cuda())
        print(val_metrics.compute())  # expect: metric-state-kept


class Classifier(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(512, 10)
        metrics = MetricCollection([MulticlassAccuracy(num_classes=10), MulticlassF1Score(10)])
        self.train_metrics = metrics.clone(prefix="train/")
        self.val_metrics = metrics.clone(prefix="val/")

    def training_step(self, batch, batch_idx):
        x, y = batch
        out = self.net(x)
        self.train_metrics.update(out, y)
        return nn.functional.cross_entropy(out, y)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.val_metrics.update(self.net(x), y)

    def on_train_epoch_end(self):
        self.log_dict(self.train_metrics.compute())
        self.train_metrics.reset()

    def on_validation_epoch_end(self):
        self.log_dict(self.val_metrics.compute())  # expect: metric-state-kept


def growing(model, train_loader):
    curves = MetricCollection({"auroc": BinaryAUROC()}).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(10):
        for x, y in train_loader:
            optimizer.zero_grad()
            scores = model(x).squeeze(1)
            nn.functional.binary_cross_entropy_with_logits(scores, y).backward()
            optimizer.step()
            print(curves(scores, y.int()))  # expect: metric-state-kept
