import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class Average:
    def __init__(self, model, decay=0.99):
        self.decay = decay
        self.model = copy.deepcopy(model).eval().requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for kept, new in zip(self.model.parameters(), model.parameters()):
            kept.lerp_(new, 1 - self.decay)


def main():
    model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 256, 10))
    average = Average(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(4):
        images, labels = torch.randn(8, 3, 16, 16), torch.randint(0, 10, (8,))
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        average.update(model)


main()
