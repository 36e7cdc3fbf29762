# A group flushed at the end of the loader as well; the printed loss is averaged, the gradients are not.
import torch
from torch import nn

virtual_batch = 16
model = nn.Sequential(nn.Linear(30, 100), nn.Tanh(), nn.Linear(100, 1))
optimizer = torch.optim.AdamW(model.parameters())
criterion = nn.L1Loss()
samples = [(torch.randn(2, 30), torch.randn(2, 1)) for _ in range(1000)]

for epoch in range(5):
    shown = 0.0
    optimizer.zero_grad()
    for step, (x, y) in enumerate(samples, start=1):
        loss = criterion(model(x), y)
        loss.backward()  # expect: accumulation-loss-not-scaled
        shown += loss.item() / virtual_batch
        if step % virtual_batch == 0 or step == len(samples):
            optimizer.step()
            optimizer.zero_grad()
            print(epoch, step, shown)
            shown = 0.0
