# A classifier written after a book: without the reset the accuracy falls to ten percent.
# https://github.com/Miraclelucy/dive_into_deep_learning/issues/6
import torch
from torch import nn


def accuracy(y_hat, y):
    return float((y_hat.argmax(axis=1) == y).sum())


def train_epoch(net, train_iter, loss, updater):
    metric = [0.0, 0.0, 0.0]
    for X, y in train_iter:
        y_hat = net(X.cuda())
        l = loss(y_hat, y.cuda())
        if isinstance(updater, torch.optim.Optimizer):
            l.mean().backward()
            updater.step()  # expect: missing-zero-grad
        else:
            l.sum().backward()
            updater(X.shape[0])
        metric[0] += float(l.sum())
        metric[1] += accuracy(y_hat, y.cuda())
        metric[2] += y.numel()
    return metric[0] / metric[2], metric[1] / metric[2]


def main(train_iter, num_epochs=10):
    net = nn.Sequential(nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10)).cuda()
    loss = nn.CrossEntropyLoss(reduction="none")
    trainer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(num_epochs):
        print(train_epoch(net, train_iter, loss, trainer))
