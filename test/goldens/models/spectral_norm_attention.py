# vram: device=8GiB, budget=4GiB, optimizer=adam, precision=fp32, batch=4, input=float32[B,3,32,32], target=float32[B,1], loss=bce_with_logits, model=Critic()
import torch, torch.nn as nn
from torch.nn.utils.parametrizations import spectral_norm

class SelfAttn(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.q = spectral_norm(nn.Conv2d(c, c // 8, 1, bias=False))
        self.k = spectral_norm(nn.Conv2d(c, c // 8, 1, bias=False))
        self.v = spectral_norm(nn.Conv2d(c, c // 2, 1, bias=False))
        self.o = spectral_norm(nn.Conv2d(c // 2, c, 1, bias=False))
        self.gamma = nn.Parameter(torch.zeros(1), requires_grad=True)
        self.c = c
    def forward(self, x):
        b, c, h, w = x.size()
        theta = self.q(x).view(-1, c // 8, h * w)
        phi = nn.functional.max_pool2d(self.k(x), [2, 2]).view(-1, c // 8, h * w // 4)
        g = nn.functional.max_pool2d(self.v(x), [2, 2]).view(-1, c // 2, h * w // 4)
        beta = nn.functional.softmax(torch.bmm(theta.transpose(1, 2), phi), -1)
        o = self.o(torch.bmm(g, beta.transpose(1, 2)).view(-1, c // 2, h, w))
        return self.gamma * o + x

class Critic(nn.Module):
    def __init__(self, c=32):
        super().__init__()
        self.net = nn.Sequential(
            spectral_norm(nn.Conv2d(3, c, 4, 2, 1)), nn.LeakyReLU(0.2),
            SelfAttn(c),
            spectral_norm(nn.Conv2d(c, c * 2, 4, 2, 1)), nn.LeakyReLU(0.2), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
            spectral_norm(nn.Linear(c * 2, 1)))
    def forward(self, x):
        return self.net(x)
