"""The teacher's optimizer is where the teacher is made."""
import torch
from architecture.distilled import improve, trained
from architecture.network import Net

teacher = trained.eval()
student = Net().cuda()
optimizer = torch.optim.Adam(student.parameters())
train_loader = [torch.randn(8, 32).cuda() for _ in range(1000)]

for x in train_loader:
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(student(x), teacher(x))
    loss.backward()
    optimizer.step()
    improve([x])
