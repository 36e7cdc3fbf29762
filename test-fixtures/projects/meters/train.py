import torch
from torch import nn
from utils import AverageMeter, Detaching, Listing, Rollout, TensorMeter, Window

model = nn.Linear(4, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.MSELoss()


def train(loader, epoch):
    losses, tensors, cut, window, listing = AverageMeter(), TensorMeter(), Detaching(), Window(), Listing()
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.update(loss, x.size(0))  # expect: graph-retained-after-backward
        tensors.update(loss, x.size(0))
        cut.update(loss)
        window.update(loss)
        listing.add(loss)  # expect: graph-retained-after-backward
        losses.update(loss.item(), x.size(0))
    return losses.avg


def probe(loader):
    losses, tensors, cut, window, listing = AverageMeter(), TensorMeter(), Detaching(), Window(), Listing()
    for x, y in loader:
        loss = criterion(model(x), y)
        losses.update(loss, x.size(0))  # expect: loss-graph-retained
        tensors.update(loss, x.size(0))
        cut.update(loss)
        window.update(loss)
        listing.add(loss)  # expect: loss-graph-retained
    return losses.avg.item()


def reset_each(loader):
    losses = AverageMeter()
    for x, y in loader:
        losses.reset()
        for _ in range(10):
            loss = criterion(model(x), y)
            loss.backward()
            losses.update(loss)  # expect: graph-retained-after-backward
        optimizer.step()
        optimizer.zero_grad()


def summed(loader):
    total = AverageMeter()
    for x, y in loader:
        total.update(criterion(model(x), y))
    total.avg.backward()
    optimizer.step()


def reinforce(env, episodes):
    for _ in range(episodes):
        rollout = Rollout()
        state = env.reset()
        for _ in range(200):
            score = model(state)
            state, reward = env.step(score.argmax())
            rollout.add(score.max(), reward)
        loss = rollout.loss()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def collect(env):
    rollout = Rollout()
    state = env.reset()
    for _ in range(200):
        score = model(state)
        state, reward = env.step(score.argmax())
        rollout.add(score.max(), reward)
    return rollout


def learn(env):
    rollout = collect(env)
    optimizer.zero_grad()
    rollout.loss().backward()
    optimizer.step()
