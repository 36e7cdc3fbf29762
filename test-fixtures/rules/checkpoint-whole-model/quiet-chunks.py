"""Each chunk of a large contrastive batch is a segment: only one is recomputed at a time."""
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

encoder = nn.Sequential(nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 32)).cuda()
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)


def embed(batch):
    chunks = []
    for chunk in batch.chunk(8):
        chunks.append(checkpoint(encoder, chunk, use_reentrant=False))
    return torch.cat(chunks)


def embed_short(batch):
    return torch.cat([checkpoint(encoder, chunk, use_reentrant=False) for chunk in batch.chunk(8)])


for step in range(100):
    x = torch.randn(4096, 128, device="cuda")
    optimizer.zero_grad()
    (embed(x) @ embed_short(x).T).logsumexp(1).mean().backward()
    left = checkpoint(encoder, x, use_reentrant=False)
    right = checkpoint(encoder, x.flip(0), use_reentrant=False)
    (left - right).pow(2).mean().backward()
    optimizer.step()
