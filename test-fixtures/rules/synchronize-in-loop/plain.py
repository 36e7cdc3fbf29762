import torch
from torch import nn

model = nn.Linear(128, 10).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader([torch.randn(128)] * 64, batch_size=8)

for x in loader:
    optimizer.zero_grad()
    loss = model(x.cuda()).pow(2).mean()
    torch.cuda.synchronize()  # expect: synchronize-in-loop
    loss.backward()
    torch.cuda.synchronize()  # expect: synchronize-in-loop
    optimizer.step()
    torch.cuda.synchronize()  # expect: synchronize-in-loop
