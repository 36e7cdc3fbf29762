"""A loss that is given as some module builds a graph where what it is given has one; a name may stop being a model."""
import torch
from torch import nn
from torch.utils.data import DataLoader


def validate(model, loss_function: nn.Module, x, val_parts: list):
    total = 0.0
    for part in val_parts:
        scores = model.sample_predict(x, part)
        total += loss_function(scores, part).item()
    return total


def validate_with(model: nn.Module, criterion: nn.Module, val_loader):
    total = 0.0
    model.eval()
    for batch in val_loader:
        total += criterion(batch, model).item()  # expect: eval-without-no-grad
    return total


def test(test_loader):
    net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)).cuda()
    net.eval()
    net = net.load_state_dict(torch.load("net.pt", map_location="cpu"))
    for x, y in test_loader:
        print((net(x.cuda()).argmax(1) == y.cuda()).sum().item())
