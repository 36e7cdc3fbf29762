# Mean losses of four batches are simply added.
import torch
from torch import nn
from torch.utils.data import DataLoader

accumulate = 4
sae = nn.Sequential(nn.Linear(128, 1024), nn.ReLU(), nn.Linear(1024, 128))
optimizer = torch.optim.Adam(sae.parameters(), lr=1e-3)
loader = DataLoader(torch.randn(4096, 128), batch_size=32, shuffle=True, drop_last=True)

for i, x in enumerate(loader):
    loss = (sae(x) - x).pow(2).mean() + 1e-3 * sae[0](x).abs().mean()
    loss.backward()  # expect: accumulation-loss-not-scaled
    if i % accumulate == accumulate - 1:
        nn.utils.clip_grad_norm_(sae.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
