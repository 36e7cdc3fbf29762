import torch
import torch.utils.data
from torch import nn

model = nn.Linear(128, 10).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")  # expect: deprecated-amp
backup = torch.amp.GradScaler("cuda", 2.0**10, enabled=True)  # expect: deprecated-amp
loader = [(torch.randn(32, 128), torch.randint(10, (32,))) for _ in range(100)]

for x, y in loader:
    optimizer.zero_grad()
    with torch.amp.autocast("cuda"):  # expect: deprecated-amp
        loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()

with torch.no_grad(), torch.amp.autocast("cuda", enabled=True, dtype=torch.float16):  # expect: deprecated-amp
    print(model(torch.randn(1, 128).cuda()))

with torch.no_grad(), torch.amp.autocast("cpu", enabled=True):  # expect: deprecated-amp
    print(model(torch.randn(1, 128)))
