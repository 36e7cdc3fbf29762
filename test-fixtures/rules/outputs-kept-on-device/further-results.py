"""The second of several results, where it is a vector for each sample."""
import torch
from torch import nn
from models import build


class TwoResults(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 64, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 2048))
        self.head = nn.Linear(2048, 10)

    def forward(self, x):
        features = torch.relu(self.backbone(x))
        return self.head(features), features


class FewFeatures(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(784, 64)
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        hidden = torch.relu(self.first(x))
        return self.head(hidden), hidden


class Pooled(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Conv2d(3, 64, 3)
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        maps = self.backbone(x)
        return self.head(maps.mean(dim=(2, 3))), maps.mean(dim=(1, 2, 3))


class SometimesTwo(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Linear(784, 2048)
        self.head = nn.Linear(2048, 10)

    def forward(self, x, both=False):
        features = self.backbone(x)
        if both:
            return self.head(features), features
        return self.head(features)


def of_known_classes(test_loader):
    model = TwoResults().cuda().eval()
    few = FewFeatures().cuda().eval()
    pooled = Pooled().cuda().eval()
    sometimes = SometimesTwo().cuda().eval()
    kept, moved, small, means, unclear = [], [], [], [], []
    with torch.no_grad():
        for images, labels in test_loader:
            logits, features = model(images.cuda())
            kept.append(features)  # expect: outputs-kept-on-device
            moved.append(features.cpu())
            logits, few_features = few(images.cuda())
            small.append(few_features)
            logits, pooled_features = pooled(images.cuda())
            means.append(pooled_features)
            logits, some_features = sometimes(images.cuda(), both=True)
            unclear.append(some_features)
    return torch.cat(kept), torch.cat(moved), torch.cat(small), torch.cat(means), torch.cat(unclear)


@torch.no_grad()
def of_an_unknown_class(test_loader):
    model = build().cuda().eval()
    vectors, states, losses, norms = [], [], [], []
    for images, labels in test_loader:
        logits, embedding = model(images.cuda())
        vectors.append(embedding)  # expect: outputs-kept-on-device
        norms.append(embedding.norm(dim=1))
        logits, hidden = model(images.cuda())
        states.append(hidden)
        logits, loss = model(images.cuda())
        losses.append(loss)
    return torch.cat(vectors), torch.cat(states), torch.stack(losses), torch.cat(norms)
