# Form of https://github.com/yenchenlin/nerf-pytorch/issues/42: a helper module switches it on for whoever imports it.
import torch

torch.autograd.set_detect_anomaly(True)  # expect: anomaly-detection-left-on
import torch.nn as nn
import torch.nn.functional as F


class NeRF(nn.Module):
    def __init__(self, D=8, W=256):
        super(NeRF, self).__init__()
        self.pts_linears = nn.ModuleList([nn.Linear(3, W)] + [nn.Linear(W, W) for _ in range(D - 1)])

    def forward(self, x):
        for layer in self.pts_linears:
            x = F.relu(layer(x))
        return x
