# A loss class that keeps its components in a history attribute.
import torch
import torch.nn as nn


class TotalLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.history = []

    def forward(self, out, y):
        ce = nn.functional.cross_entropy(out, y)
        l1 = out.abs().mean()
        self.history.append((ce, l1))
        return ce + 0.1 * l1


def train(model, loader):
    model = model.cuda()
    criterion = TotalLoss()
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x.cuda()), y.cuda()).backward()  # expect: graph-retained-after-backward
        optimizer.step()
