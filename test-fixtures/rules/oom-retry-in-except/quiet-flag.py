import logging
import traceback

import torch
from torch import nn

model = nn.Linear(4096, 4096).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader([torch.randn(4096)] * 64, batch_size=8)


def run(x):
    loss = model(x.cuda()).pow(2).mean()
    loss.backward()
    return loss.item()


for x in loader:
    optimizer.zero_grad()
    failed = False
    try:
        run(x)
    except torch.cuda.OutOfMemoryError:
        logging.warning("skipping a batch of %d", len(x))
        optimizer.zero_grad()
        torch.cuda.empty_cache()
        failed = True
    if failed:
        run(x[:4])
    optimizer.step()

for x in loader:
    try:
        run(x)
    except RuntimeError as e:
        if "out of memory" in str(e):
            continue
        raise

for x in loader:
    try:
        run(x)
    except torch.cuda.OutOfMemoryError as e:
        traceback.clear_frames(e.__traceback__)
        run(x[:4])

size = 64
while True:
    try:
        run(torch.randn(size, 4096))
        break
    except torch.cuda.OutOfMemoryError:
        size //= 2
