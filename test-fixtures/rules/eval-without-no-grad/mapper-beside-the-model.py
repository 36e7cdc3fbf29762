"""A module that only looks values up builds no graph: the model's call behind it does."""
import torch
from torch import nn


class Mapper(nn.Module):
    def __init__(self, mapping):
        super().__init__()
        self.mapping = mapping.transpose(0, 1)

    def forward(self, x):
        return self.mapping[x]


def validate(model: nn.Module, val_loader, mapper):
    model.eval()
    losses = []
    for x, targets in val_loader:
        targets = mapper(targets.cuda())
        outputs = model(x.cuda(), targets)  # expect: eval-without-no-grad
        losses.append(nn.functional.mse_loss(outputs, targets).item())
    return sum(losses)


def main(loader):
    net = nn.Bilinear(64, 64, 64).cuda()
    print(validate(net, loader, Mapper(torch.eye(64))))
