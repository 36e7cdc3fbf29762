import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--fp16", action="store_true")
args = parser.parse_args()
teacher = nn.Linear(128, 10).cuda().half()
model = nn.Linear(128, 10).cuda()
if args.fp16:
    model = model.half()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for x in [torch.randn(32, 128) for _ in range(10)]:
    optimizer.zero_grad()
    with torch.no_grad():
        target = teacher(x.cuda().half())
    nn.functional.mse_loss(model(x.cuda()), target.float()).backward()
    optimizer.step()

model.half()
print(model(torch.randn(1, 128).cuda().half()))
