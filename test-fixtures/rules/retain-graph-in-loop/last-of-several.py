"""Two backwards share a graph: the first must keep it, the last need not; a trainer with a scaler."""
import torch
from torch import nn
from torchvision.models import resnet18


class Trainer:
    def __init__(self, loader):
        self.model = resnet18(num_classes=10).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.scaler = torch.amp.GradScaler("cuda")
        self.criterion = nn.CrossEntropyLoss()
        self.loader = loader

    def fit(self, epochs):
        for _ in range(epochs):
            for x, y in self.loader:
                logits = self.model(x.cuda())
                loss = self.criterion(logits, y.cuda())
                penalty = logits.pow(2).mean()
                self.optimizer.zero_grad()
                self.scaler.scale(loss).backward(retain_graph=True)
                self.scaler.scale(penalty).backward(retain_graph=True)  # expect: retain-graph-in-loop
                self.scaler.step(self.optimizer)
                self.scaler.update()


def two_models(first, loader):
    a = nn.Linear(128, 10).cuda()
    b = nn.Linear(128, 10).cuda()
    optimizer = torch.optim.Adam([*a.parameters(), *b.parameters()])
    step = 0
    while step < 1000:
        x, y = next(loader)
        optimizer.zero_grad()
        loss_a = nn.functional.cross_entropy(a(x), y)
        loss_b = nn.functional.cross_entropy(b(x), y)
        loss_a.backward(retain_graph=True)  # expect: retain-graph-in-loop
        loss_b.backward()
        optimizer.step()
        step += 1
