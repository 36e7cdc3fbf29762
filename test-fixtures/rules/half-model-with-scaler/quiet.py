"""Other models, other dtypes, other ways."""
import copy

import torch
from torch import nn

teacher = nn.Linear(128, 10).cuda().half().eval()
student = nn.Linear(128, 10).cuda()
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
wide = nn.Linear(128, 10).cuda().to(torch.bfloat16)
second = torch.optim.SGD(wide.parameters(), lr=0.1)
fused = nn.Linear(128, 10).cuda().half()
third = torch.optim.AdamW(fused.parameters(), fused=True)
rounded = nn.Linear(128, 10).cuda()
rounded.half().float()
fourth = torch.optim.SGD(rounded.parameters(), lr=0.1)

for x in [torch.randn(32, 128) for _ in range(10)]:
    for owner, own in ((student, optimizer), (wide, second)):
        own.zero_grad()
    with torch.no_grad():
        target = teacher(x.cuda().half())
    loss = nn.functional.mse_loss(student(x.cuda()), target.float())
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.scale(wide(x.cuda().to(torch.bfloat16)).float().mean()).backward()
    scaler.step(second)
    scaler.scale(fused(x.cuda().half()).float().mean()).backward()
    scaler.step(third)
    scaler.scale(rounded(x.cuda()).mean()).backward()
    scaler.step(fourth)
    scaler.update()
    third.zero_grad()
    fourth.zero_grad()

torch.save(copy.deepcopy(student).half().state_dict(), "student.pt")
student.half()
print(student(torch.randn(1, 128).cuda().half()))
