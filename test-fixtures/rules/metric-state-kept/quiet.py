# Reset, made anew, used once, logged as an object, handed on, or of all batches on purpose.
import lightning as L
import torch
import torchmetrics
from torch import nn
from torchmetrics import Accuracy, MetricTracker
from torchmetrics.functional import accuracy as accuracy_of

torch.set_grad_enabled(False)
model = nn.Linear(512, 10)


def reset_after(val_loader):
    metric = Accuracy(task="multiclass", num_classes=10)
    for epoch in range(10):
        for x, y in val_loader:
            metric.update(model(x), y)
        print(metric.compute())
        metric.reset()


def made_anew(val_loader):
    for epoch in range(10):
        metric = Accuracy(task="multiclass", num_classes=10)
        for x, y in val_loader:
            metric.update(model(x), y)
        print(metric.compute())


def evaluate(val_loader):
    metric = torchmetrics.AUROC(task="multiclass", num_classes=10)
    for x, y in val_loader:
        metric.update(model(x), y)
    return metric.compute()


def over_epochs(val_loader):
    for epoch in range(10):
        print(evaluate(val_loader))


def running(train_loader):
    metric = Accuracy(task="multiclass", num_classes=10)
    for epoch in range(10):
        for step, (x, y) in enumerate(train_loader):
            metric.update(model(x), y)
            if step % 100 == 0:
                print(metric.compute())


def handed_on(val_loader, finish):
    metric = Accuracy(task="multiclass", num_classes=10)
    for epoch in range(10):
        for x, y in val_loader:
            metric.update(model(x), y)
        print(metric.compute())
        finish(metric)


def in_a_list(val_loader):
    accuracy = Accuracy(task="multiclass", num_classes=10)
    metrics = [accuracy]
    for epoch in range(10):
        for x, y in val_loader:
            accuracy.update(model(x), y)
        print(accuracy.compute())
        for metric in metrics:
            metric.reset()


def of_a_batch(train_loader):
    metric = Accuracy(task="multiclass", num_classes=10)
    for epoch in range(10):
        for x, y in train_loader:
            print(metric(model(x), y), accuracy_of(model(x), y, task="multiclass", num_classes=10))


def with_thresholds(train_loader):
    metric = torchmetrics.AUROC(task="multiclass", num_classes=10, thresholds=100)
    for epoch in range(10):
        for x, y in train_loader:
            print(metric(model(x), y))


def tracked(val_loader):
    tracker = MetricTracker(Accuracy(task="multiclass", num_classes=10))
    for epoch in range(10):
        tracker.increment()
        for x, y in val_loader:
            tracker.update(model(x), y)
        print(tracker.compute())


class Logged(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(512, 10)
        self.accuracy = Accuracy(task="multiclass", num_classes=10)
        self.tested = Accuracy(task="multiclass", num_classes=10)
        self.emptied = Accuracy(task="multiclass", num_classes=10)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.cross_entropy(self.net(x), y)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.accuracy(self.net(x), y)
        self.emptied.update(self.net(x), y)
        self.log("accuracy", self.accuracy, on_epoch=True)

    def test_step(self, batch, batch_idx):
        x, y = batch
        self.tested.update(self.net(x), y)

    def on_validation_epoch_end(self):
        self.log("emptied", self.emptied.compute())

    def on_validation_epoch_start(self):
        self.emptied.reset()

    def on_test_epoch_end(self):
        self.log("tested", self.tested.compute())
