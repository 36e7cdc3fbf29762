"""The forward stands in a helper that training uses too."""
import torch
from torch import nn

net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def process(model, batch):
    x, y = batch
    outputs = model(x.cuda())
    return outputs, nn.functional.cross_entropy(outputs, y.cuda())


def scores(model, batch):
    with torch.no_grad():
        return process(model, batch)


def train(loader):
    net.train()
    for batch in loader:
        _, loss = process(net, batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def check(loader):
    net.eval()
    losses = []
    for batch in loader:
        outputs, loss = process(net, batch)  # expect: eval-without-no-grad
        losses.append(loss.item())
    net.train()
    return sum(losses)


def check_quietly(loader):
    net.eval()
    losses = []
    for batch in loader:
        outputs, loss = scores(net, batch)
        losses.append(loss.item())
    with torch.no_grad():
        for batch in loader:
            losses.append(process(net, batch)[1].item())
    net.train()
    return sum(losses)
