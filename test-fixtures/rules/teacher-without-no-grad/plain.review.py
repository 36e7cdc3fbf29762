import torch
import torch.nn.functional as F
from torch import nn

student = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10)).cuda()
teacher = nn.Sequential(nn.Linear(128, 1024), nn.ReLU(), nn.Linear(1024, 10)).cuda()
teacher.load_state_dict(torch.load("teacher.pt", map_location="cpu"))
teacher.eval()
optimizer = torch.optim.Adam(student.parameters(), lr=1e-3)
loader = [(torch.randn(32, 128), torch.randint(10, (32,))) for _ in range(100)]

for x, y in loader:
    x, y = x.cuda(), y.cuda()
    optimizer.zero_grad()
    logits = student(x)
    with torch.no_grad():
        teacher_logits = teacher(x)  # expect: teacher-without-no-grad
    soft = F.kl_div(F.log_softmax(logits / 4, dim=1), F.softmax(teacher_logits / 4, dim=1), reduction="batchmean")
    loss = F.cross_entropy(logits, y) + 16 * soft
    loss.backward()
    optimizer.step()
