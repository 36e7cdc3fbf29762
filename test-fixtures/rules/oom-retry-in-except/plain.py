import torch
from torch import nn

model = nn.Linear(4096, 4096).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader([torch.randn(4096)] * 64, batch_size=8)

for x in loader:
    optimizer.zero_grad()
    try:
        loss = model(x.cuda()).pow(2).mean()
        loss.backward()
    except torch.cuda.OutOfMemoryError:
        torch.cuda.empty_cache()
        loss = model(x[:4].cuda()).pow(2).mean()  # expect: oom-retry-in-except
        loss.backward()
    optimizer.step()
