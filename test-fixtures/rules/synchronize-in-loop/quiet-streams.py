import torch
from torch import nn

model = nn.Linear(128, 10).cuda()
side = torch.cuda.Stream()
loader = torch.utils.data.DataLoader([torch.randn(128)] * 64, batch_size=8)

for x in loader:
    with torch.cuda.stream(side):
        batch = x.cuda(non_blocking=True)
    torch.cuda.synchronize()
    model(batch).mean().backward()
    torch.cuda.synchronize()
