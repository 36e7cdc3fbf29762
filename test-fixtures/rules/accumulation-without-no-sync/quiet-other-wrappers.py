# FSDP beside a model for evaluation that is DDP.
import torch
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.nn.parallel import DistributedDataParallel as DDP

k = 4


def sharded(batches):
    judge = DDP(nn.Linear(32, 4).cuda())
    model = FSDP(nn.Linear(32, 4))
    optimizer = torch.optim.AdamW(model.parameters())
    for i, x in enumerate(batches):
        ((model(x) - judge(x)).square().mean() / k).backward()
        if (i + 1) % k == 0 or i + 1 == len(batches):
            optimizer.step()
            optimizer.zero_grad()
