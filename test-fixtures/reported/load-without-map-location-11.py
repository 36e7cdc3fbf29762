# Super-resolution network resumed by a flag; the dictionary stays in a global while eight processes train.
# Form of https://github.com/rosinality/stylegan2-pytorch/issues/36, with the discriminator's weights in the same file
import sys

import torch
import torch.nn as nn
from torch import distributed as dist

dist.init_process_group(backend="nccl")
local = dist.get_rank() % torch.cuda.device_count()
torch.cuda.set_device(local)
generator = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 3, 3, padding=1)).to("cuda")
discriminator = nn.Sequential(nn.Conv2d(3, 64, 4, 2), nn.ReLU(), nn.Flatten(), nn.LazyLinear(1)).to("cuda")
g_optim = torch.optim.Adam(generator.parameters(), lr=2e-3)

if len(sys.argv) > 1:
    print("load model:", sys.argv[1])
    ckpt = torch.load(sys.argv[1])  # expect: load-without-map-location
    generator.load_state_dict(ckpt["g"])
    discriminator.load_state_dict(ckpt["d"])
    g_optim.load_state_dict(ckpt["g_optim"])

generator = nn.parallel.DistributedDataParallel(generator, device_ids=[local])
for step in range(800_000):
    low = torch.randn(16, 3, 64, 64, device="cuda")
    loss = nn.functional.softplus(-discriminator(generator(low))).mean()
    g_optim.zero_grad()
    loss.backward()
    g_optim.step()
