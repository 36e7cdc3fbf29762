"""A state that the model keeps, but that is cut, made anew, or walked by one backward only."""
import torch
from torch import nn


class Detaching(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(10, 20)
        self.state = torch.zeros(1, 1, 20)

    def forward(self, x):
        out, self.state = self.gru(x, self.state.detach())
        return out


class StartedAnew(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(10, 20)
        self.memory = None

    def reset(self):
        self.memory = torch.zeros(1, 1, 20)

    def forward(self, x):
        out, self.memory = self.gru(x, self.memory)
        return out


class SetFromOutside(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(10, 20)
        self.context = None

    def forward(self, x):
        out, self.context = self.gru(x, self.context)
        return out


class Unrolled(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(10, 20)
        self.last = torch.zeros(1, 1, 20)

    def forward(self, x):
        out, self.last = self.gru(x, self.last)
        return out


def train(chunks):
    for make in (Detaching, StartedAnew, SetFromOutside):
        model = make()
        optimizer = torch.optim.Adam(model.parameters())
        for x in chunks:
            model.context = None
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()


detaching, started = Detaching().cuda(), StartedAnew().cuda()


def train_both(chunks, optimizer):
    for x in chunks:
        started.reset()
        optimizer.zero_grad()
        (detaching(x).mean() + started(x).mean()).backward()
        optimizer.step()


def train_whole(chunks):
    model = Unrolled()
    optimizer = torch.optim.Adam(model.parameters())
    total = 0
    for x in chunks:
        total = total + model(x).mean()
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
