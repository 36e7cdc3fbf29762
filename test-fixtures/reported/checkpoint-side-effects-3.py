# Form of https://github.com/Tencent/YOLO-Master/issues/262: convolution and norm of a detector's layer are recomputed.
import torch
import torch.utils.checkpoint
from torch import nn


class Conv(nn.Module):
    def __init__(self, c1, c2, k=1):
        super().__init__()
        self.conv = nn.Conv2d(c1, c2, k, bias=False)
        self.bn = nn.BatchNorm2d(c2)
        self.act = nn.SiLU(inplace=True)

    def forward(self, x):
        return self.act(self.bn(self.conv(x)))


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleList(Conv(8, 8, 3) for _ in range(4))

    def forward(self, x):
        for i, stage in enumerate(self.stages):
            # expect-next: checkpoint-side-effects
            x = torch.utils.checkpoint.checkpoint(stage, x, use_reentrant=False)
        return x
