import math

import torch
from torch import nn, optim
from torch.utils.tensorboard import SummaryWriter

model = nn.TransformerEncoderLayer(128, 4, batch_first=True).cuda()
optimizer = optim.AdamW(model.parameters(), lr=1e-4)
writer = SummaryWriter()
history, best, latest = [], math.inf, None
loss_sum = torch.zeros((), device="cuda")
grad_norms = []
seen = 0

for step in range(10_000):
    x = torch.randn(8, 64, 128, device="cuda")
    loss = (model(x) - x).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    grad_norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()

    latest = loss
    loss_sum += loss.detach()
    history.append(loss.item())
    grad_norms.append(float(grad_norm))
    seen += x.shape[0]
    best = min(best, loss.item())
    writer.add_scalar("loss", loss, step)
    if step % 100 == 0:
        print(f"{step} {loss:.4f} {loss_sum / (step + 1):.4f} best {best:.4f}")
        history = []
print(latest)
