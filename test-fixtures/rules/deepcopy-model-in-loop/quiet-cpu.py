import copy

import torch
from torch import nn

model = nn.Linear(128, 10)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
best, best_state = float("inf"), None

for x, y in [(torch.randn(32, 128), torch.randint(10, (32,))) for _ in range(100)]:
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    before = copy.deepcopy(model.state_dict())
    if loss.item() < best:
        best, best_state = loss.item(), None
        best_state = copy.deepcopy(model.state_dict())

model.load_state_dict(best_state)
