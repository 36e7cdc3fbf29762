import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

encoder = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 32))
head = nn.Linear(32, 10)
params = list(encoder.parameters()) + list(head.parameters())
optimizer = torch.optim.AdamW(params, lr=1e-3)
best, best_state = float("inf"), None
for epoch in range(4):
    x, y = torch.randn(64, 64), torch.randint(0, 10, (64,))
    loss = F.cross_entropy(head(encoder(x)), y)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(params, 1.0)
    optimizer.step()
    if loss.item() < best + 100:
        best = loss.item()
        best_state = copy.deepcopy(encoder.state_dict())
