# vram: device=4GiB, budget=3GiB, batch=16, input=float32[B,3,64,64], target=float32[B,1344,4], loss=det_loss, optimizer=adam, precision=fp32
"""A one-stage detector after YOLO: lists that grow by generators over their own last item, nearest upsampling, an IoU loss."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from functools import partial


def autopad(k, p=None):
    return k // 2 if p is None else p


class Conv(nn.Module):
    default_act = nn.SiLU()

    def __init__(self, c1, c2, k=1, s=1, p=None, g=1, act=True):
        super().__init__()
        self.conv = nn.Conv2d(c1, c2, k, s, autopad(k, p), groups=g, bias=False)
        self.bn = nn.BatchNorm2d(c2)
        self.act = self.default_act if act is True else act if isinstance(act, nn.Module) else nn.Identity()

    def forward(self, x):
        return self.act(self.bn(self.conv(x)))


class Bottleneck(nn.Module):
    def __init__(self, c1, c2, shortcut=True, e=0.5):
        super().__init__()
        c_ = int(c2 * e)
        self.cv1, self.cv2 = Conv(c1, c_, 3), Conv(c_, c2, 3)
        self.add = shortcut and c1 == c2

    def forward(self, x):
        return x + self.cv2(self.cv1(x)) if self.add else self.cv2(self.cv1(x))


class C2f(nn.Module):
    def __init__(self, c1, c2, n=1, shortcut=False, e=0.5):
        super().__init__()
        self.c = int(c2 * e)
        self.cv1 = Conv(c1, 2 * self.c)
        self.cv2 = Conv((2 + n) * self.c, c2)
        self.m = nn.ModuleList(Bottleneck(self.c, self.c, shortcut, e=1.0) for _ in range(n))

    def forward(self, x):
        y = list(self.cv1(x).chunk(2, 1))
        y.extend(m(y[-1]) for m in self.m)
        return self.cv2(torch.cat(y, 1))


class SPPF(nn.Module):
    def __init__(self, c1, c2, k=5):
        super().__init__()
        self.cv1, self.cv2 = Conv(c1, c1 // 2), Conv(c1 * 2, c2)
        self.m = nn.MaxPool2d(k, 1, k // 2)

    def forward(self, x):
        y = [self.cv1(x)]
        y.extend(self.m(y[-1]) for _ in range(3))
        return self.cv2(torch.cat(y, 1))


class Detector(nn.Module):
    def __init__(self, w=16, nc=4):
        super().__init__()
        conv = partial(Conv, k=3, s=2)
        self.stem = conv(3, w)
        self.s1 = nn.Sequential(conv(w, 2 * w), C2f(2 * w, 2 * w, 1, True))
        self.s2 = nn.Sequential(conv(2 * w, 4 * w), C2f(4 * w, 4 * w, 2, True))
        self.sppf = SPPF(4 * w, 4 * w)
        self.lat = C2f(6 * w, 2 * w)
        self.heads = nn.ModuleList(nn.Conv2d(c, 4 * 3, 1) for c in (w, 2 * w, 4 * w))
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out")
            elif isinstance(m, nn.BatchNorm2d):
                m.eps, m.momentum = 1e-3, 0.03

    def forward(self, x):
        p0 = self.stem(x)
        p1 = self.s1(p0)
        p2 = self.sppf(self.s2(p1))
        p1 = self.lat(torch.cat([F.interpolate(p2, scale_factor=2.0, mode="nearest"), p1], 1))
        outs = []
        for f, head in zip((p0, p1, p2), self.heads):
            y = head(f)
            bs, _, ny, nx = y.shape
            y = y.view(bs, 3, 4, ny, nx).permute(0, 1, 3, 4, 2).contiguous()
            outs.append(y.view(bs, -1, 4))
        return torch.cat(outs, 1)[:, :1344]


def det_loss(pred, target):
    xy, wh = pred[..., :2].sigmoid() * 2 - 0.5, (pred[..., 2:].sigmoid() * 2) ** 2
    box = torch.cat((xy, wh), -1)
    (b1x, b1y, b1w, b1h), (b2x, b2y, b2w, b2h) = box.chunk(4, -1), target.chunk(4, -1)
    x1, x2 = b1x - b1w / 2, b1x + b1w / 2
    X1, X2 = b2x - b2w / 2, b2x + b2w / 2
    inter = (torch.min(x2, X2) - torch.max(x1, X1)).clamp(0) * (b1h.minimum(b2h) - b1y.maximum(b2y)).clamp_(0)
    union = b1w * b1h + b2w * b2h - inter + 1e-7
    iou = inter / union
    return (1.0 - iou).mean() + F.smooth_l1_loss(box, target, beta=0.5)
