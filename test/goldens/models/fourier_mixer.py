# vram: device=8GiB, budget=4GiB, optimizer=adam, precision=fp32, batch=3, input=int64[B,32]<200, target=int64[B]<4, loss=cross_entropy, model=FNet(200, 64, 2, 4)
import torch, torch.nn as nn
class FourierFF(nn.Module):
    def __init__(self, d, h, p=0.1):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.ff = nn.Sequential(nn.Linear(d, h), nn.GELU(), nn.Dropout(p), nn.Linear(h, d), nn.Dropout(p))
    def forward(self, x):
        f = torch.fft.fft(torch.fft.fft(x, dim=-1), dim=-2).real
        x = self.n1(x + f)
        return self.n2(x + self.ff(x))
class SpectralGate(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.w = nn.Parameter(torch.randn(n // 2 + 1, d, 2) * 0.02)
    def forward(self, x):
        n = x.shape[1]
        X = torch.fft.rfft(x, dim=1, norm='ortho')
        X = X * torch.view_as_complex(self.w)
        return torch.fft.irfft(X, n=n, dim=1, norm='ortho')
class FNet(nn.Module):
    def __init__(self, v, d, depth, c):
        super().__init__()
        self.emb = nn.Embedding(v, d)
        self.pos = nn.Parameter(torch.zeros(1, 32, d))
        self.blocks = nn.ModuleList([FourierFF(d, d * 4) for _ in range(depth)])
        self.gate = SpectralGate(32, d)
        self.head = nn.Linear(d, c)
    def forward(self, x):
        x = self.emb(x) + self.pos[:, :x.size(1)]
        for b in self.blocks:
            x = b(x)
        x = x + self.gate(x)
        return self.head(x.mean(1))
