# Unscaled each time, clipped once: the unscaling belongs before the clipping.
import torch
from torch import nn

k = 4
model = nn.Linear(64, 10).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cuda")
batches = [(torch.randn(8, 64), torch.randint(10, (8,))) for _ in range(400)]

for i, (x, y) in enumerate(batches):
    with torch.autocast("cuda"):
        loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda()) / k
    scaler.scale(loss).backward()
    if (i + 1) % k == 0:
        scaler.unscale_(optimizer)  # expect: scaler-step-per-microbatch
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
