import os

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

k = 8
rank = int(os.environ["LOCAL_RANK"])
torch.distributed.init_process_group("nccl")
data = TensorDataset(torch.randn(4096, 32), torch.randint(4, (4096,)))
loader = DataLoader(data, batch_size=16, sampler=DistributedSampler(data), drop_last=True)
model = nn.Linear(32, 4).to(rank)
model = DDP(model, device_ids=[rank])
optimizer = torch.optim.AdamW(model.parameters())

for i, (x, y) in enumerate(loader):
    loss = nn.functional.cross_entropy(model(x.to(rank)), y.to(rank)) / k
    loss.backward()  # expect: accumulation-without-no-sync
    if (i + 1) % k == 0:
        optimizer.step()
        optimizer.zero_grad()
