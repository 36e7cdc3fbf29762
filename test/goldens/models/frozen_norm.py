# vram: device=4GiB, budget=3GiB, batch=16, input=float32[B,3,64,64], target=int64[B]<5, loss=focal, optimizer=adam, precision=fp32
"""Grouped bottlenecks of which the first stages are frozen; `train` keeps the stem in evaluation mode."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Bottleneck(nn.Module):
    expansion = 4

    def __init__(self, i, p, s=1, groups=8):
        super().__init__()
        o = p * self.expansion
        self.conv1 = nn.Conv2d(i, p, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(p)
        self.conv2 = nn.Conv2d(p, p, 3, s, 1, groups=groups, bias=False)
        self.bn2 = nn.BatchNorm2d(p)
        self.conv3 = nn.Conv2d(p, o, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(o)
        self.relu = nn.ReLU(inplace=True)
        self.down = None
        if s != 1 or i != o:
            self.down = nn.Sequential(nn.Conv2d(i, o, 1, s, bias=False), nn.BatchNorm2d(o))

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        if self.down is not None:
            x = self.down(x)
        y += x
        return self.relu(y)


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 32, 7, 2, 3, bias=False), nn.BatchNorm2d(32), nn.ReLU(True), nn.MaxPool2d(3, 2, 1))
        self.layer1 = self._make(32, 16, 2, 1)
        self.layer2 = self._make(64, 32, 2, 2)
        self.layer3 = self._make(128, 64, 2, 2)

    def _make(self, i, p, n, s):
        layers = [Bottleneck(i, p, s)]
        for _ in range(1, n):
            layers.append(Bottleneck(p * 4, p))
        return nn.Sequential(*layers)

    def forward(self, x):
        return self.layer3(self.layer2(self.layer1(self.stem(x))))


class Classifier(nn.Module):
    def __init__(self, n=5):
        super().__init__()
        self.backbone = Backbone()
        for name, p in self.backbone.named_parameters():
            if not name.startswith("layer3"):
                p.requires_grad = False
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(0.3), nn.Linear(256, 128), nn.BatchNorm1d(128), nn.PReLU(), nn.Linear(128, n))

    def train(self, mode=True):
        super().train(mode)
        self.backbone.stem.eval()
        return self

    def forward(self, x):
        return self.head(self.pool(self.backbone(x)))


def focal(logits, y, gamma=2.0, alpha=0.25):
    ce = F.cross_entropy(logits, y, reduction="none")
    pt = torch.exp(-ce)
    return (alpha * (1 - pt) ** gamma * ce).mean()
