# The list that a model is given, in which it puts each layer's new state in place of the old one.
import torch
import torch.nn as nn


class Replaced(nn.Module):
    def __init__(self, layers=3):
        super().__init__()
        self.cells = nn.ModuleList([nn.GRUCell(128, 128) for _ in range(layers)])
        self.out = nn.Linear(128, 1000)

    def forward(self, x, hidden):
        for layer, cell in enumerate(self.cells):
            x = cell(x, hidden[layer])
            hidden[layer] = x
        return self.out(x), hidden


class ReplacedPairs(nn.Module):
    def __init__(self, layers=3):
        super().__init__()
        self.layers = nn.ModuleList([nn.LSTM(128, 128) for _ in range(layers)])
        self.out = nn.Linear(128, 1000)

    def forward(self, x, states):
        for i, rnn in enumerate(self.layers):
            x, states[i] = rnn(x, states[i])
        return self.out(x), states


def train_replaced(loader):
    model = Replaced().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    hidden = [torch.zeros(20, 128).cuda() for _ in range(3)]
    for x, y in loader:
        optimizer.zero_grad()
        out, hidden = model(x.cuda(), hidden)  # expect: hidden-state-not-detached
        loss = nn.functional.cross_entropy(out, y.cuda())
        loss.backward()
        optimizer.step()


def train_pairs(loader):
    model = ReplacedPairs().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    states = [None] * 3
    for x, y in loader:
        optimizer.zero_grad()
        out, states = model(x.cuda(), states)  # expect: hidden-state-not-detached
        loss = nn.functional.cross_entropy(out.flatten(0, 1), y.cuda().flatten())
        loss.backward()
        optimizer.step()


def train_replaced_and_detached(loader):
    model = Replaced().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    hidden = [torch.zeros(20, 128).cuda() for _ in range(3)]
    for x, y in loader:
        hidden = [layer.detach() for layer in hidden]
        optimizer.zero_grad()
        out, hidden = model(x.cuda(), hidden)
        loss = nn.functional.cross_entropy(out, y.cuda())
        loss.backward()
        optimizer.step()
