import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

encoder = nn.Linear(8, 8)
decoder = nn.Linear(8, 8)
optimizer = torch.optim.SGD([*encoder.parameters(), *decoder.parameters()], lr=0.1)


def step(model, x):
    return checkpoint(model, x, use_reentrant=False)


for x in torch.utils.data.DataLoader(torch.randn(64, 8)):
    optimizer.zero_grad()
    hidden = checkpoint(encoder, x, use_reentrant=False)
    step(decoder, hidden).mean().backward()
    optimizer.step()
