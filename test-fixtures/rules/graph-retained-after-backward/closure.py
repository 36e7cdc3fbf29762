# The optimizer calls the closure: what that keeps piles up with each step.
import torch
from torch import nn

net = nn.Linear(3, 1).cuda()
content = nn.Parameter(torch.rand(1, 3).cuda())
criterion = nn.MSELoss()


def fit(loader):
    optimizer = torch.optim.LBFGS(net.parameters())
    history = []
    numbers = []
    for x, y in loader:

        def closure():
            optimizer.zero_grad()
            loss = criterion(net(x.cuda()), y.cuda())
            loss.backward()
            history.append(loss)  # expect: graph-retained-after-backward
            numbers.append(loss.item())
            return loss

        optimizer.step(closure)
    return history, numbers


def transfer(target, steps):
    optimizer = torch.optim.LBFGS([content])
    losses = []
    run = [0]
    while run[0] <= steps:
        last = []

        def evaluate():
            optimizer.zero_grad()
            loss = criterion(net(content), target)
            loss.backward()
            losses.append(loss)  # expect: graph-retained-after-backward
            last.append(loss)
            run[0] += 1
            return loss

        optimizer.step(closure=evaluate)
    return losses
