import torch
from torch import nn

model = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 10)).cuda()
optimizer = torch.optim.Adam(model.parameters())
loader = [(torch.randn(32, 128), torch.randint(10, (32,))) for _ in range(100)]

for x, y in loader:
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
    loss.backward()  # expect: retain-graph-in-loop
    optimizer.step()
