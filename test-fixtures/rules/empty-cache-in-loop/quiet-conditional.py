# Every n steps, as a warm-up, behind an option, or when memory has run out.
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--empty-cache", action="store_true")
args = parser.parse_args()

model = nn.TransformerEncoderLayer(256, 8, batch_first=True).cuda()
optimizer = torch.optim.AdamW(model.parameters())
torch.backends.cudnn.benchmark = True
oom_count = 0

for step in range(10_000):
    x = torch.randn(8, 128 + step % 64, 256, device="cuda")
    try:
        optimizer.zero_grad()
        loss = (model(x) - x).pow(2).mean()
        loss.backward()
        optimizer.step()
    except torch.cuda.OutOfMemoryError:
        oom_count += 1
        optimizer.zero_grad()
        torch.cuda.empty_cache()
        continue
    if step % 500 == 0:
        torch.cuda.empty_cache()
    if step == 0:
        # the benchmark of the first step tried large workspaces
        torch.cuda.empty_cache()
    if args.empty_cache:
        torch.cuda.empty_cache()
    if torch.cuda.memory_reserved() > 0.9 * torch.cuda.get_device_properties(0).total_memory:
        torch.cuda.empty_cache()

for step in range(100):
    x = torch.randn(8, 128, 256, device="cuda")
    try:
        optimizer.zero_grad()
        (model(x) - x).pow(2).mean().backward()
        optimizer.step()
    except RuntimeError as error:
        if "out of memory" not in str(error):
            raise
        print("skipped a batch")
        torch.cuda.empty_cache()
