"""Building blocks of a detector: nobody in this file calls backward, the callers do."""
import torch
import torch.nn.functional as F
from torch import nn


class FeatureNet(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, padding=1)
        self.layers = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(depth))
        self.last_features = None

    def forward(self, x):
        features = []
        skips = {}
        x = self.stem(x)
        for index, layer in enumerate(self.layers):
            x = F.relu(layer(x))
            features.append(x)
            skips[f"level{index}"] = x
        self.last_features = x
        return features, skips


def detection_loss(class_logits, boxes, class_targets, box_targets, weights=(1.0, 2.0)):
    losses = []
    total = 0
    for logits, box, ct, bt in zip(class_logits, boxes, class_targets, box_targets):
        classification = F.cross_entropy(logits, ct)
        regression = F.smooth_l1_loss(box, bt)
        losses.append(classification)
        total += weights[0] * classification + weights[1] * regression
    return total, losses


def orthogonality_penalty(model):
    penalty = 0.0
    for name, p in model.named_parameters():
        if p.dim() == 2:
            gram = p @ p.t()
            penalty = penalty + (gram - torch.eye(gram.size(0), device=p.device)).pow(2).sum()
    return penalty


class MultiLoss:
    def __init__(self, parts):
        self.parts = parts
        self.total = 0

    def add(self, value):
        self.total = self.total + value
        self.parts.append(value)

    def backward(self):
        self.total.backward()
        self.total = 0
        self.parts.clear()
