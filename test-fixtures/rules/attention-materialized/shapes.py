# Heads split by view and transpose, by one layer for all three, by einops, and scores by einsum.
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from einops import rearrange


class MultiHead(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.d_k = width // heads
        self.w_q = nn.Linear(width, width)
        self.w_k = nn.Linear(width, width)
        self.w_v = nn.Linear(width, width)
        self.w_o = nn.Linear(width, width)

    def forward(self, query, key, value, mask=None):
        B = query.size(0)
        Q = self.w_q(query).view(B, -1, self.heads, self.d_k).transpose(1, 2)
        K = self.w_k(key).view(B, -1, self.heads, self.d_k).transpose(1, 2)
        V = self.w_v(value).view(B, -1, self.heads, self.d_k).transpose(1, 2)
        scores = torch.matmul(Q, K.transpose(-2, -1)) / math.sqrt(self.d_k)  # expect: attention-materialized
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        weights = torch.softmax(scores, dim=-1)
        x = torch.matmul(weights, V).transpose(1, 2).reshape(B, -1, self.heads * self.d_k)
        return self.w_o(x)


class Attention(nn.Module):
    def __init__(self, dim, num_heads=8, attn_drop=0.0):
        super().__init__()
        self.num_heads = num_heads
        self.scale = (dim // num_heads) ** -0.5
        self.qkv = nn.Linear(dim, dim * 3)
        self.attn_drop = nn.Dropout(attn_drop)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        attn = (q @ k.transpose(-2, -1)) * self.scale  # expect: attention-materialized
        attn = attn.softmax(dim=-1)
        attn = self.attn_drop(attn)
        x = (attn @ v).transpose(1, 2).reshape(B, N, C)
        return self.proj(x)


class Rearranged(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.to_qkv = nn.Linear(dim, dim * 3, bias=False)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, x):
        qkv = self.to_qkv(x).chunk(3, dim=-1)
        q, k, v = map(lambda t: rearrange(t, "b n (h d) -> b h n d", h=self.heads), qkv)
        attn = self.softmax(torch.matmul(q, k.transpose(-1, -2)) * self.scale)  # expect: attention-materialized
        return rearrange(torch.matmul(attn, v), "b h n d -> b n (h d)")


class Summed(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.to_q = nn.Linear(dim, dim)
        self.to_k = nn.Linear(dim, dim)
        self.to_v = nn.Linear(dim, dim)

    def forward(self, x, context, attention_mask):
        q = rearrange(self.to_q(x), "b n (h d) -> (b h) n d", h=self.heads)
        k = rearrange(self.to_k(context), "b m (h d) -> (b h) m d", h=self.heads)
        v = rearrange(self.to_v(context), "b m (h d) -> (b h) m d", h=self.heads)
        sim = torch.einsum("b i d, b j d -> b i j", q, k) / q.shape[-1] ** 0.5  # expect: attention-materialized
        sim = sim + attention_mask
        attn = F.softmax(sim.float(), dim=-1).to(q.dtype)
        return torch.einsum("b i j, b j d -> b i d", attn, v)
