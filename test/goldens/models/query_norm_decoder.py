# vram: device=8GiB, budget=4GiB, optimizer=adam, precision=fp32, batch=3, input=int64[B,16]<100, input=bool[B,16], target=int64[B,16]<100, loss=lm_loss, model=Decoder()
import math, torch, torch.nn as nn, torch.nn.functional as F
def precompute_freqs(dim, end, theta=10000.0):
    freqs = 1.0 / (theta ** (torch.arange(0, dim, 2)[: (dim // 2)].float() / dim))
    t = torch.arange(end)
    freqs = torch.outer(t, freqs).float()
    return torch.cos(freqs), torch.sin(freqs)
def rotate(x, cos, sin):
    x1, x2 = x.float().chunk(2, dim=-1)
    return torch.cat([x1 * cos - x2 * sin, x1 * sin + x2 * cos], dim=-1).type_as(x)
class Attn(nn.Module):
    def __init__(self, d, h, kv):
        super().__init__()
        self.h, self.kv, self.hd = h, kv, d // h
        self.wq = nn.Linear(d, h * self.hd, bias=False)
        self.wkv = nn.Linear(d, 2 * kv * self.hd, bias=False)
        self.wo = nn.Linear(d, d, bias=False)
        self.qn, self.kn = nn.RMSNorm(self.hd), nn.RMSNorm(self.hd)
    def forward(self, x, cos, sin, mask):
        B, T, C = x.shape
        q = self.wq(x).view(B, T, self.h, self.hd).transpose(1, 2)
        k, v = self.wkv(x).view(B, T, 2, self.kv, self.hd).unbind(2)
        k, v = k.transpose(1, 2), v.transpose(1, 2)
        q, k = rotate(self.qn(q), cos, sin), rotate(self.kn(k), cos, sin)
        k = k.repeat_interleave(self.h // self.kv, dim=1)
        v = v.repeat_interleave(self.h // self.kv, dim=1)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=0.1 if self.training else 0.0)
        return self.wo(y.transpose(1, 2).reshape(B, T, C))
class SwiGLU(nn.Module):
    def __init__(self, d, mult=64):
        super().__init__()
        h = mult * ((int(8 * d / 3) + mult - 1) // mult)
        self.w1, self.w2, self.w3 = nn.Linear(d, h, False), nn.Linear(h, d, False), nn.Linear(d, h, False)
    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))
class Block(nn.Module):
    def __init__(self, d, h, kv):
        super().__init__()
        self.n1, self.n2 = nn.RMSNorm(d), nn.RMSNorm(d)
        self.attn, self.mlp = Attn(d, h, kv), SwiGLU(d)
    def forward(self, x, *args):
        x = x + self.attn(self.n1(x), *args)
        return x + self.mlp(self.n2(x))
class Decoder(nn.Module):
    def __init__(self, v=100, d=64, h=4, kv=2, depth=2, T=32):
        super().__init__()
        self.tok = nn.Embedding(v, d)
        self.blocks = nn.ModuleList(Block(d, h, kv) for _ in range(depth))
        self.norm = nn.RMSNorm(d)
        self.out = nn.Linear(d, v, bias=False)
        self.out.weight = self.tok.weight
        cos, sin = precompute_freqs(d // h, T)
        self.register_buffer('cos', cos, persistent=False)
        self.register_buffer('sin', sin, persistent=False)
        self.apply(self._init)
    def _init(self, m):
        if isinstance(m, nn.Linear):
            nn.init.normal_(m.weight, std=0.02)
    def forward(self, idx, pad):
        T = idx.shape[1]
        causal = torch.ones(T, T, dtype=torch.bool, device=idx.device).tril()
        mask = causal[None, None] & pad[:, None, None, :]
        x = self.tok(idx)
        for b in self.blocks:
            x = b(x, self.cos[:T], self.sin[:T], mask)
        return self.out(self.norm(x))
def lm_loss(logits, y):
    y = torch.where(y == 0, torch.full_like(y, -100), y)
    return F.cross_entropy(logits[:, :-1].contiguous().view(-1, logits.size(-1)), y[:, 1:].contiguous().view(-1), ignore_index=-100)
