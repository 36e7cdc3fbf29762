"""BERT and DistilBERT encoders as the transformers library composes them; the loss is the mean of the last hidden state."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Embeddings(nn.Module):
    def __init__(self, vocab, positions, dim, types):
        super().__init__()
        self.word = nn.Embedding(vocab, dim, padding_idx=0)
        self.position = nn.Embedding(positions, dim)
        self.token_type = nn.Embedding(types, dim) if types else None
        self.norm = nn.LayerNorm(dim, eps=1e-12)
        self.dropout = nn.Dropout(0.1)

    def forward(self, ids):
        places = torch.arange(ids.shape[1], device=ids.device).unsqueeze(0)
        x = self.word(ids)
        if self.token_type is not None:
            x = x + self.token_type(torch.zeros_like(ids))
        x = x + self.position(places)
        return self.dropout(self.norm(x))


class SelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.size = heads, dim // heads
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)

    def forward(self, x):
        b, t, _ = x.shape
        q = self.query(x).view(b, -1, self.heads, self.size).transpose(1, 2)
        k = self.key(x).view(b, -1, self.heads, self.size).transpose(1, 2)
        v = self.value(x).view(b, -1, self.heads, self.size).transpose(1, 2)
        out = F.scaled_dot_product_attention(q, k, v, dropout_p=0.1 if self.training else 0.0)
        return out.transpose(1, 2).reshape(b, t, self.heads * self.size)


class Layer(nn.Module):
    def __init__(self, dim, heads, hidden, dropped_attention):
        super().__init__()
        self.attention = SelfAttention(dim, heads)
        self.out = nn.Linear(dim, dim)
        self.out_norm = nn.LayerNorm(dim, eps=1e-12)
        self.up = nn.Linear(dim, hidden)
        self.down = nn.Linear(hidden, dim)
        self.down_norm = nn.LayerNorm(dim, eps=1e-12)
        self.dropout = nn.Dropout(0.1)
        self.dropped_attention = dropped_attention

    def forward(self, x):
        y = self.out(self.attention(x))
        if self.dropped_attention:
            y = self.dropout(y)
        x = self.out_norm(y + x)
        y = self.down(F.gelu(self.up(x)))
        return self.down_norm(self.dropout(y) + x)


class Pooler(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dense = nn.Linear(dim, dim)

    def forward(self, x):
        return torch.tanh(self.dense(x[:, 0]))


class Bert(nn.Module):
    def __init__(self, vocab=30522, dim=768, depth=12, heads=12, hidden=3072, pooled=True):
        super().__init__()
        self.embeddings = Embeddings(vocab, 512, dim, 2 if pooled else 0)
        self.layers = nn.ModuleList([Layer(dim, heads, hidden, pooled) for _ in range(depth)])
        self.pooler = Pooler(dim) if pooled else None

    def forward(self, ids):
        x = self.embeddings(ids)
        for layer in self.layers:
            x = layer(x)
        pooled = self.pooler(x) if self.pooler is not None else None
        return x.float().mean(), x, pooled


def distilbert():
    return Bert(depth=6, pooled=False)
