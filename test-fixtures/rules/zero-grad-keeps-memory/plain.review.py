import torch
import torch.nn.functional as F
from torch import nn

model = nn.Linear(128, 10).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
loader = torch.utils.data.DataLoader([(torch.randn(128), 0)] * 64, batch_size=8)

for x, y in loader:
    optimizer.zero_grad()  # expect: zero-grad-keeps-memory
    loss = F.cross_entropy(model(x.cuda()), y.cuda())
    loss.backward()
    optimizer.step()
