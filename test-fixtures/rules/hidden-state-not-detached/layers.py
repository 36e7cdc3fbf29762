# A list with the state of each layer, which goes on from batch to batch with its graph.
import torch
import torch.nn as nn


class Layers(nn.Module):
    def __init__(self, layers=3):
        super().__init__()
        self.embed = nn.Embedding(1000, 128)
        self.cells = nn.ModuleList([nn.LSTM(128, 128, batch_first=True) for _ in range(layers)])
        self.out = nn.Linear(128, 1000)

    def forward(self, x, hidden):
        x = self.embed(x)
        states = []
        for layer, cell in enumerate(self.cells):
            x, state = cell(x, hidden[layer])
            states.append(state)
        return self.out(x), states


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(1000, 128)
        self.first = nn.GRU(128, 128)
        self.second = nn.GRU(128, 128)
        self.out = nn.Linear(128, 1000)

    def forward(self, x, hidden):
        x, first = self.first(self.embed(x), hidden[0])
        x, second = self.second(x, hidden[1])
        return self.out(x), [first, second]


def train(loader):
    model = Layers().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    hidden = [None] * 3
    for x, y in loader:
        optimizer.zero_grad()
        out, hidden = model(x.cuda(), hidden)  # expect: hidden-state-not-detached
        loss = nn.functional.cross_entropy(out.flatten(0, 1), y.cuda().flatten())
        loss.backward()
        optimizer.step()


def train_two(loader):
    model = Two().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    hidden = [torch.zeros(1, 20, 128).cuda(), torch.zeros(1, 20, 128).cuda()]
    for x, y in loader:
        optimizer.zero_grad()
        out, hidden = model(x.cuda(), hidden)  # expect: hidden-state-not-detached
        loss = nn.functional.cross_entropy(out.flatten(0, 1), y.cuda().flatten())
        loss.backward()
        optimizer.step()


def train_detached(loader):
    model = Layers().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    hidden = [None] * 3
    for x, y in loader:
        optimizer.zero_grad()
        out, hidden = model(x.cuda(), hidden)
        loss = nn.functional.cross_entropy(out.flatten(0, 1), y.cuda().flatten())
        loss.backward()
        optimizer.step()
        hidden = [tuple(part.detach() for part in layer) for layer in hidden]


def train_anew(loader):
    model = Two().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    for x, y in loader:
        hidden = [None, None]
        optimizer.zero_grad()
        out, hidden = model(x.cuda(), hidden)
        loss = nn.functional.cross_entropy(out.flatten(0, 1), y.cuda().flatten())
        loss.backward()
        optimizer.step()
