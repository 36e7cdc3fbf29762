"""The second model is trained too, or nobody can tell."""
import itertools

import torch
import torch.nn.functional as F
from torch import nn

first = nn.Linear(128, 10).cuda()
target = nn.Linear(128, 10).cuda()
mutual = torch.optim.Adam(itertools.chain(first.parameters(), target.parameters()), lr=1e-3)


def mutual_learning(loader):
    for x, y in loader:
        a = first(x)
        b = target(x)
        loss = F.cross_entropy(a, y) + F.cross_entropy(b, y) + F.mse_loss(a, b)
        mutual.zero_grad()
        loss.backward()
        mutual.step()


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.student = nn.Linear(128, 10)
        self.teacher = nn.Linear(128, 10)

    def forward(self, x):
        return F.mse_loss(self.student(x), self.teacher(x))


def whole(loader):
    pair = Pair()
    optimizer = torch.optim.Adam(pair.parameters(), lr=1e-3)
    for x in loader:
        loss = pair(x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def added_later(loader):
    student = nn.Linear(128, 10)
    teacher = nn.Linear(128, 10).eval()
    optimizer = torch.optim.Adam(student.parameters(), lr=1e-3)
    optimizer.add_param_group({"params": teacher.parameters(), "lr": 1e-5})
    for x in loader:
        loss = F.mse_loss(student(x), teacher(x))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def fine_tune(train_loader, optimizer, criterion):
    """The loss hangs on this model alone: without its graph there would be no backward."""
    pretrained_model = load_bundle("endoscopy", directory="./")
    pretrained_model.train()
    for data in train_loader:
        optimizer.zero_grad()
        loss = criterion(pretrained_model(data["image"].cuda()), data["label"].cuda())
        loss.backward()
        optimizer.step()
