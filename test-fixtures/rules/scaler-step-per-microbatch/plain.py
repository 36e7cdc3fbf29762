import torch
from torch import nn
from torch.amp import GradScaler, autocast

k = 4
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = GradScaler("cuda")
batches = [(torch.randn(8, 64), torch.randint(10, (8,))) for _ in range(400)]

for i, (x, y) in enumerate(batches):
    with autocast("cuda"):
        loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda()) / k
    scaler.scale(loss).backward()
    if (i + 1) % k == 0:
        scaler.step(optimizer)
        optimizer.zero_grad()
    scaler.update()  # expect: scaler-step-per-microbatch
