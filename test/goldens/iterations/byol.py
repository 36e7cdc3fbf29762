import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class TwoViews(Dataset):
    def __len__(self):
        return 30

    def __getitem__(self, index):
        return torch.rand(3, 16, 16), torch.rand(3, 16, 16)


def mlp(dim, hidden, out):
    return nn.Sequential(nn.Linear(dim, hidden), nn.BatchNorm1d(hidden), nn.ReLU(inplace=True), nn.Linear(hidden, out))


class BYOL(nn.Module):
    def __init__(self, momentum=0.99):
        super().__init__()
        backbone = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten())
        self.online = nn.Sequential(backbone, mlp(8 * 7 * 7, 32, 16))
        self.target = copy.deepcopy(self.online)
        for p in self.target.parameters():
            p.requires_grad = False
        self.predictor = mlp(16, 32, 16)
        self.momentum = momentum

    @torch.no_grad()
    def update_target(self):
        for online, target in zip(self.online.parameters(), self.target.parameters()):
            target.data = target.data * self.momentum + online.data * (1 - self.momentum)

    def forward(self, view1, view2):
        q1, q2 = self.predictor(self.online(view1)), self.predictor(self.online(view2))
        with torch.no_grad():
            z1, z2 = self.target(view1), self.target(view2)
        return regression_loss(q1, z2.detach()) + regression_loss(q2, z1.detach())


def regression_loss(x, y):
    x, y = F.normalize(x, dim=-1), F.normalize(y, dim=-1)
    return 2 - 2 * (x * y).sum(dim=-1)


def main():
    learner = BYOL()
    trained = list(learner.online.parameters()) + list(learner.predictor.parameters())
    optimizer = torch.optim.Adam(trained, lr=3e-4)
    loader = DataLoader(TwoViews(), batch_size=6, drop_last=True)
    for epoch in range(1):
        for view1, view2 in loader:
            loss = learner(view1, view2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            learner.update_target()


main()
