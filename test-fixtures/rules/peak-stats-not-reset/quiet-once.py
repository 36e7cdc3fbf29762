import torch
from torch import nn

model = nn.Linear(8, 8).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader([torch.randn(8)] * 64, batch_size=8)


def peak():
    return torch.cuda.max_memory_allocated()


for epoch in range(3):
    for step, x in enumerate(loader):
        optimizer.zero_grad()
        model(x.cuda()).mean().backward()
        optimizer.step()
        print(step, torch.cuda.max_memory_allocated())
    print(epoch, torch.cuda.max_memory_allocated())

for device in range(torch.cuda.device_count()):
    print(torch.cuda.max_memory_reserved(device))

print(peak())
