"""One pass for training and validation; the object that computes the loss runs the backward where it has an optimizer."""

import torch
import torch.nn as nn


class SimpleLossCompute:
    def __init__(self, generator, criterion, opt=None):
        self.generator = generator
        self.criterion = criterion
        self.opt = opt

    def __call__(self, x, y):
        loss = self.criterion(self.generator(x), y)
        if self.opt is not None:
            loss.backward()
            self.opt.step()
            self.opt.zero_grad()
        return loss.item()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(64, 64)
        self.generator = nn.Linear(64, 10)

    def forward(self, x):
        return self.body(x)


def run_epoch(data, model, loss_compute):
    total_loss = 0
    for x, y in data:
        out = model.forward(x)
        total_loss += loss_compute(out, y)
    return total_loss


def main(train_data, valid_data):
    model = Model()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(10):
        model.train()
        run_epoch(train_data, model, SimpleLossCompute(model.generator, criterion, optimizer))
        model.eval()
        with torch.no_grad():
            run_epoch(valid_data, model, SimpleLossCompute(model.generator, criterion))
