import torch
from accelerate import Accelerator
from torch import nn

accelerator = Accelerator(mixed_precision="fp16")
model = nn.Linear(128, 10)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = accelerator.prepare(model, optimizer)

for x in [torch.randn(32, 128) for _ in range(10)]:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = model(x).mean()
    accelerator.backward(loss)
    optimizer.step()
