import torch
from torch import autograd, nn

model = nn.Linear(128, 10).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for step in range(1000):
    optimizer.zero_grad()
    loss = model(torch.randn(32, 128, device="cuda")).pow(2).mean()
    # the whole batch
    loss.backward()
    optimizer.step()
