"""Classes that freeze themselves as they are made: all of it at the end, or a part before the head is added."""
import torch
from torch import nn


class Extractor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64))
        for parameter in self.parameters():
            parameter.requires_grad = False

    def forward(self, x):
        return self.body(x)


class Judged(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(64, 64)
        self.head = nn.Linear(64, 2)
        self.requires_grad_(False)
        print("made")

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(64, 64)
        for parameter in self.parameters():
            parameter.requires_grad = False
        self.head = nn.Linear(64, 2)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


def describe(test_loader):
    extractor = Extractor().cuda()
    extractor.eval()
    for x in test_loader:
        print(extractor(x.cuda()).norm().item())


def judge(test_loader):
    judged = Judged().cuda()
    judged.eval()
    for x in test_loader:
        print(judged(x.cuda()).argmax(1).sum().item())


def classify(test_loader):
    classifier = Classifier().cuda()
    classifier.eval()
    for x in test_loader:
        print(classifier(x.cuda()).argmax(1).sum().item())  # expect: eval-without-no-grad
