"""One region around all iterations: the casts of the first one are used for ever."""
import torch
from torch import nn

model = nn.Linear(128, 10).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = [(torch.randn(32, 128), torch.randint(10, (32,))) for _ in range(100)]

with torch.autocast(device_type="cuda", dtype=torch.bfloat16):
    for epoch in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
            loss.backward()  # expect: backward-in-autocast
            optimizer.step()
