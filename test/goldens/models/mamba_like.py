# vram: device=4GiB, budget=3GiB, batch=16, input=float32[B,20,32], target=float32[B,20,32], loss=huber, optimizer=adam, precision=fp32
"""A selective state space model: split by keyword, a depthwise causal convolution, a scan written as a loop."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class SSM(nn.Module):
    def __init__(self, d=32, n=8, expand=2, k=4):
        super().__init__()
        self.di = d * expand
        self.rank = math.ceil(d / 16)
        self.n = n
        self.in_proj = nn.Linear(d, self.di * 2, bias=False)
        self.conv1d = nn.Conv1d(self.di, self.di, k, groups=self.di, padding=k - 1)
        self.x_proj = nn.Linear(self.di, self.rank + n * 2, bias=False)
        self.dt_proj = nn.Linear(self.rank, self.di)
        A = torch.arange(1, n + 1, dtype=torch.float32).repeat(self.di, 1)
        self.A_log = nn.Parameter(torch.log(A))
        self.D = nn.Parameter(torch.ones(self.di))
        self.out_proj = nn.Linear(self.di, d, bias=False)

    def forward(self, x):
        b, l, d = x.shape
        x, res = self.in_proj(x).split(split_size=[self.di, self.di], dim=-1)
        x = self.conv1d(x.transpose(1, 2))[:, :, :l].transpose(1, 2)
        x = F.silu(x)
        y = self.ssm(x)
        return self.out_proj(y * F.silu(res))

    def ssm(self, x):
        A = -torch.exp(self.A_log.float())
        delta, B, C = self.x_proj(x).split([self.rank, self.n, self.n], dim=-1)
        delta = F.softplus(self.dt_proj(delta))
        return self.scan(x, delta, A, B, C, self.D.float())

    def scan(self, u, delta, A, B, C, D):
        b, l, d = u.shape
        n = A.shape[1]
        dA = torch.exp(torch.einsum('bld,dn->bldn', delta, A))
        dBu = torch.einsum('bld,bln,bld->bldn', delta, B, u)
        x = torch.zeros((b, d, n), device=dA.device)
        ys = []
        for i in range(l):
            x = dA[:, i] * x + dBu[:, i]
            ys.append(torch.einsum('bdn,bn->bd', x, C[:, i, :]))
        y = torch.stack(ys, dim=1)
        return y + u * D


class Mamba(nn.Module):
    def __init__(self, d=32, n=2):
        super().__init__()
        self.blocks = nn.ModuleList([SSM(d) for _ in range(n)])
        self.norms = nn.ModuleList([nn.RMSNorm(d) for _ in range(n)])

    def forward(self, x):
        for b, n in zip(self.blocks, self.norms):
            x = x + b(n(x))
        return x


def huber(p, y):
    return F.huber_loss(p, y, delta=0.5)
