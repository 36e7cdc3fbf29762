import torch
from torch import nn

model = nn.Linear(512, 512).cuda()

for batch_size in [64, 32, 16]:
    torch.cuda.reset_peak_memory_stats()
    model(torch.randn(batch_size, 512, device="cuda")).sum().backward()
    print(batch_size, torch.cuda.max_memory_allocated() / 2**20)  # expect: peak-stats-not-reset
