import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, width, norm):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, padding=1)
        self.local = nn.BatchNorm2d(width, track_running_stats=False)
        self.norm = nn.GroupNorm(2, width)
        if norm == "batch":
            self.norm = nn.BatchNorm2d(width)
        self.drop = nn.Dropout(0.1)
        self.none = nn.Dropout(0.0)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        identity = x
        x = self.conv(x)
        x += identity
        return self.drop(self.act(self.norm(self.local(x))))


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.none = nn.Dropout(p=0.0)

    def forward(self, x):
        x = x.clone()
        x.mul_(2)
        return self.none(self.fc(x))


def attend(x, scale):
    scale = scale + 1
    scale += 2
    return x * scale


block = Block(8, "group")
plain = Plain()


def run(x):
    x = checkpoint(block, x, use_reentrant=False)
    x = checkpoint(plain, x, use_reentrant=False, preserve_rng_state=False)
    x = checkpoint(attend, x, 2.0, use_reentrant=False)
    return checkpoint(F.gelu, x, use_reentrant=False, preserve_rng_state=False)
