import torch
import torch.nn.functional as F


@torch.no_grad()
def evaluate(model, loader):
    total = 0.0
    for images, labels in loader:
        total += F.cross_entropy(model(images), labels)
    return total


def train_loss(model, batch):
    images, labels = batch
    return F.cross_entropy(model(images), labels)


def loss_value(model, batch):
    return train_loss(model, batch).item()


def loss_with_output(model, batch):
    output = model(batch[0])
    return F.cross_entropy(output, batch[1]), output.argmax(1)


def identity(value):
    return value


def detached(value):
    return value.detach()
