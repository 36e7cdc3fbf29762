import torch
from torch import nn

model = nn.Sequential(nn.Linear(128, 64), nn.LayerNorm(64), nn.Linear(64, 10)).cuda()
model.half()  # expect: manual-half-cast
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loader = [(torch.randn(32, 128), torch.randint(10, (32,))) for _ in range(100)]

for x, y in loader:
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x.cuda().half()), y.cuda())
    loss.backward()
    optimizer.step()
