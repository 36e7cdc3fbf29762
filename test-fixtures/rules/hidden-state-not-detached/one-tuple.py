# Observation and state go into the model as one tuple, as actor-critic models with a cell take them.
import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(8, 32)
        self.head = nn.Linear(32, 1)

    def forward(self, inputs):
        x, (hx, cx) = inputs
        hx, cx = self.cell(x, (hx, cx))
        return self.head(hx), (hx, cx)


def train(batches):
    model = Policy().cuda()
    optimizer = torch.optim.Adam(model.parameters())
    hx = torch.zeros(4, 32).cuda()
    cx = torch.zeros(4, 32).cuda()
    for x, y in batches:
        value, (hx, cx) = model((x.cuda(), (hx, cx)))  # expect: hidden-state-not-detached
        loss = (value - y.cuda()).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def train_detached(batches):
    model = Policy().cuda()
    optimizer = torch.optim.Adam(model.parameters())
    hx = torch.zeros(4, 32).cuda()
    cx = torch.zeros(4, 32).cuda()
    for x, y in batches:
        value, (hx, cx) = model((x.cuda(), (hx.detach(), cx.detach())))
        loss = (value - y.cuda()).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
