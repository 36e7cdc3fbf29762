from gc import collect

import torch
from torch import nn


def clean_up():
    collect()  # expect: gc-collect-in-loop


def tidy():
    collect()


def train(model: nn.Module, loader, optimizer, criterion):
    for images, labels in loader:
        loss = criterion(model(images.cuda()), labels.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        clean_up()


def evaluate(model, loader):
    correct = 0
    with torch.no_grad():
        for images, labels in loader:
            correct += (model(images.cuda()).argmax(1).cpu() == labels).sum().item()
            tidy()  # expect: gc-collect-in-loop
    return correct


def main(model, loader, val_loader, optimizer):
    train(model, loader, optimizer, nn.CrossEntropyLoss())
    tidy()
    evaluate(model, val_loader)
