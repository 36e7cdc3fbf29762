import torch
import torch.nn as nn
import torch.nn.functional as F

teachers = [nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 10)).eval() for _ in range(3)]
student = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
optimizer = torch.optim.Adam(student.parameters())
kd = nn.KLDivLoss(reduction="batchmean")
for step in range(4):
    x, y = torch.randn(64, 64), torch.randint(0, 10, (64,))
    with torch.no_grad():
        soft = torch.stack([F.softmax(t(x) / 4, dim=1) for t in teachers]).mean(0)
    out = student(x)
    loss = 0.5 * F.cross_entropy(out, y) + 0.5 * 16 * kd(F.log_softmax(out / 4, dim=1), soft)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
