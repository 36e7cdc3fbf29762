# The first iteration gives a variable its value, all others add to it: it is begun once.
import torch
from torch import nn

net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 1)).cuda()
optimizer = torch.optim.Adam(net.parameters())


def begun_with_a_number(batches):
    average = None
    for x, y in batches:
        loss = nn.functional.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if average is None:
            average = loss.item()
        else:
            average = 0.9 * average + 0.1 * loss  # expect: graph-retained-after-backward
    return float(average)


def begun_beside_another(batches):
    short = long = None
    for x, y in batches:
        loss = nn.functional.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if not short:
            short, long = float(loss), float(loss)
        else:
            short = 0.9 * short + 0.1 * loss  # expect: graph-retained-after-backward
            long = 0.99 * long + 0.01 * loss.item()
    return float(short), long


def begun_anew(batches, every):
    total = None
    for step, (x, y) in enumerate(batches):
        loss = nn.functional.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % every == 0:
            total = loss.item()
        else:
            total = total + loss
    return float(total)


def set_back(batches, every):
    total = None
    for step, (x, y) in enumerate(batches):
        loss = nn.functional.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total = loss if total is None else total + loss
        if step % every == 0:
            print(total.item())
            total = None


def in_place(batches):
    total = torch.zeros(1).cuda()
    for x, y in batches:
        loss = nn.functional.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total.add_(loss)  # expect: graph-retained-after-backward
    return total.item()


def in_place_for_one_backward(batches):
    for group in batches:
        total = torch.zeros(1).cuda()
        for x, y in group:
            total.add_(nn.functional.mse_loss(net(x), y))
        optimizer.zero_grad()
        total.backward()
        optimizer.step()


def in_place_detached(batches):
    total = torch.zeros(1).cuda()
    for x, y in batches:
        loss = nn.functional.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total.add_(loss.detach())
    return total.item()
