from copy import deepcopy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Data(Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, i):
        return torch.rand(16), i % 4


@torch.no_grad()
def update_ema(ema_model, model, decay=0.999):
    for e, p in zip(ema_model.parameters(), model.parameters()):
        e.mul_(decay).add_(p, alpha=1 - decay)


device = torch.device("cpu")
model = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 4)).to(device)
ema = deepcopy(model).eval().requires_grad_(False)
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
for epoch in range(1):
    for x, y in DataLoader(Data(), batch_size=8):
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        update_ema(ema, model)
