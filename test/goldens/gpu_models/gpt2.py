"""GPT-2 as the transformers library composes it: Conv1D projections, fused attention, composed GELU, fp32 loss."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Conv1D(nn.Module):
    def __init__(self, outputs, inputs):
        super().__init__()
        self.outputs = outputs
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        size = x.size()[:-1] + (self.outputs,)
        x = torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight)
        return x.view(size)


class Attention(nn.Module):
    def __init__(self, dim, heads, drop):
        super().__init__()
        self.heads, self.dim, self.drop = heads, dim, drop
        self.c_attn = Conv1D(3 * dim, dim)
        self.c_proj = Conv1D(dim, dim)
        self.resid_dropout = nn.Dropout(drop)

    def forward(self, x):
        query, key, value = self.c_attn(x).split(self.dim, dim=2)
        shape = (*query.shape[:-1], self.heads, self.dim // self.heads)
        query = query.view(shape).transpose(1, 2)
        key = key.view(shape).transpose(1, 2)
        value = value.view(shape).transpose(1, 2)
        out = F.scaled_dot_product_attention(query, key, value, dropout_p=self.drop if self.training else 0.0, is_causal=True)
        out = out.transpose(1, 2).contiguous()
        out = out.reshape(*out.shape[:-2], -1).contiguous()
        return self.resid_dropout(self.c_proj(out))


class NewGELU(nn.Module):
    def forward(self, x):
        return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


class MLP(nn.Module):
    def __init__(self, dim, drop):
        super().__init__()
        self.c_fc = Conv1D(4 * dim, dim)
        self.c_proj = Conv1D(dim, 4 * dim)
        self.act = NewGELU()
        self.dropout = nn.Dropout(drop)

    def forward(self, x):
        x = self.c_fc(x)
        x = self.act(x)
        x = self.c_proj(x)
        return self.dropout(x)


class Block(nn.Module):
    def __init__(self, dim, heads, drop):
        super().__init__()
        self.ln_1 = nn.LayerNorm(dim)
        self.attn = Attention(dim, heads, drop)
        self.ln_2 = nn.LayerNorm(dim)
        self.mlp = MLP(dim, drop)

    def forward(self, x):
        residual = x
        x = self.ln_1(x)
        x = self.attn(x) + residual
        residual = x
        x = self.ln_2(x)
        return residual + self.mlp(x)


class GPT2(nn.Module):
    def __init__(self, vocab=50257, positions=1024, dim=768, depth=12, heads=12, drop=0.1):
        super().__init__()
        self.wte = nn.Embedding(vocab, dim)
        self.wpe = nn.Embedding(positions, dim)
        self.drop = nn.Dropout(drop)
        self.h = nn.ModuleList([Block(dim, heads, drop) for _ in range(depth)])
        self.ln_f = nn.LayerNorm(dim)
        self.lm_head = nn.Linear(dim, vocab, bias=False)
        self.lm_head.weight = self.wte.weight

    def forward(self, ids, labels):
        position = torch.arange(ids.shape[1], device=ids.device).unsqueeze(0)
        x = self.drop(self.wte(ids) + self.wpe(position))
        for block in self.h:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        wide = logits.float()
        labels = F.pad(labels, (0, 1), value=-100)
        shifted = labels[..., 1:].contiguous()
        loss = F.cross_entropy(wide.view(-1, wide.size(-1)), shifted.view(-1), ignore_index=-100)
        return loss, logits
