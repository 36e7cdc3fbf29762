"""Multi-task training: the list lives for one batch, and the sums of the epoch are numbers."""
import torch
import torch.nn as nn

tasks = ["depth", "normals", "segmentation"]
backbone = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU())
heads = nn.ModuleDict({t: nn.Conv2d(32, 1, 1) for t in tasks})
optimizer = torch.optim.SGD([*backbone.parameters(), *heads.parameters()], lr=0.01)
sums = {t: 0.0 for t in tasks}


def closure_losses(image, targets):
    features = backbone(image)
    return [nn.functional.mse_loss(heads[t](features), targets[t]) for t in tasks]


for epoch in range(5):
    for image in torch.randn(40, 2, 3, 32, 32):
        targets = {t: torch.randn(2, 1, 32, 32) for t in tasks}
        losses = []
        for loss in closure_losses(image, targets):
            losses.append(loss)
        total = sum(losses)
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        for t, loss in zip(tasks, losses):
            sums[t] += loss.item()
    print({t: round(s, 3) for t, s in sums.items()})
