import copy

import torch
from torch import nn

model = nn.Linear(128, 10).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = [(torch.randn(32, 128), torch.randint(10, (32,))) for _ in range(100)]

for epoch in range(10):
    before = copy.deepcopy(model.state_dict())  # expect: deepcopy-model-in-loop
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
    if not torch.isfinite(loss):
        model.load_state_dict(before)
