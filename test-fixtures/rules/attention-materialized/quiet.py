# Weights that others read, scores that are changed, small matrices, one query, and attention that is fused already.
import torch
import torch.nn as nn
import torch.nn.functional as F
from einops import rearrange


class Returned(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, dim)

    def forward(self, x):
        weights = (self.q(x) @ self.k(x).transpose(-2, -1)).softmax(dim=-1)
        return weights @ self.v(x), weights


class Kept(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, dim)

    def forward(self, x):
        scores = self.q(x) @ self.k(x).transpose(-2, -1)
        self.scores = scores
        return scores.softmax(dim=-1) @ self.v(x)


class Gated(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, dim)

    def forward(self, x, adjacency):
        scores = self.q(x) @ self.k(x).transpose(-2, -1)
        return (scores * adjacency).softmax(dim=-1) @ self.v(x)


class Features(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.heads, C // self.heads).permute(2, 0, 3, 4, 1)
        q, k, v = qkv[0], qkv[1], qkv[2]
        attn = (q @ k.transpose(-2, -1)) * N**-0.5
        return attn.softmax(dim=-1) @ v


class Pixels(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.q = nn.Conv2d(channels, channels, 1)
        self.k = nn.Conv2d(channels, channels, 1)

    def forward(self, x):
        q = rearrange(self.q(x), "b c h w -> b c (h w)")
        k = rearrange(self.k(x), "b c h w -> b c (h w)")
        return torch.softmax(q @ k.transpose(-2, -1), dim=-1) @ k


class Decoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)

    def forward(self, hidden, encoded):
        scores = self.q(hidden) @ self.k(encoded).transpose(-2, -1)
        return torch.bmm(F.softmax(scores, dim=-1), encoded)


class WindowAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, dim)

    def forward(self, x):
        return (self.q(x) @ self.k(x).transpose(-2, -1)).softmax(dim=-1) @ self.v(x)


class Either(nn.Module):
    def __init__(self, dim, fused):
        super().__init__()
        self.fused = fused
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, dim)

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        if self.fused:
            return F.scaled_dot_product_attention(q, k, v)
        return (q @ k.transpose(-2, -1)).softmax(dim=-1) @ v


class OverQueries(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, dim)

    def forward(self, x):
        return (self.q(x) @ self.k(x).transpose(-2, -1)).softmax(dim=-2) @ self.v(x)


class OnePosition(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, dim)

    def forward(self, x):
        B, C = x.shape
        q = self.q(x).view(B, 1, self.heads, C // self.heads).transpose(1, 2)
        k = self.k(x).view(B, 1, self.heads, C // self.heads).transpose(1, 2)
        v = self.v(x).view(B, 1, self.heads, C // self.heads).transpose(1, 2)
        return (q @ k.transpose(-2, -1)).softmax(dim=-1) @ v
