"""What looks like a teacher is trained under its other name."""
import torch
from architecture import network
from architecture.network import Net, alias as teacher
from torch.nn.functional import mse_loss

train_loader = [torch.randn(8, 32).cuda() for _ in range(1000)]
student = Net().cuda()
optimizer = torch.optim.Adam([*student.parameters(), *network.model.parameters()])

for x in train_loader:
    optimizer.zero_grad()
    loss = mse_loss(student(x), teacher(x))
    loss.backward()
    optimizer.step()
