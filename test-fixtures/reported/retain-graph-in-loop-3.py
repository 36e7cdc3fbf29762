# "Does the model need backward twice?" No, and the argument went: https://github.com/shenweichen/DeepCTR-Torch/issues/69
import torch
from torch import nn
from torch.nn import functional as F

deep = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 1)).cuda()
optimizer = torch.optim.Adam(deep.parameters())


def fit(loader, epochs):
    for _ in range(epochs):
        for x, y in loader:
            predicted = deep(x.cuda().float()).squeeze()
            optimizer.zero_grad()
            loss = F.binary_cross_entropy_with_logits(predicted, y.cuda().float())
            reg_loss = sum(1e-5 * p.square().sum() for p in deep.parameters())
            total_loss = loss + reg_loss
            total_loss.backward(retain_graph=True)  # expect: retain-graph-in-loop
            optimizer.step()
