import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

model = nn.Sequential(*[nn.Sequential(nn.Linear(512, 512), nn.GELU()) for _ in range(12)]).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

for step in range(1000):
    x = torch.randn(64, 512, device="cuda")
    loss = checkpoint(model, x, use_reentrant=False).pow(2).mean()  # expect: checkpoint-whole-model
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
