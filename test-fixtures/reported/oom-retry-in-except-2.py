# Form of https://github.com/pytorch/pytorch/issues/27600: deleting the exception in the block does not help.
import torch
from torch import nn

network = nn.Sequential(nn.Linear(1024, 65536), nn.ReLU(), nn.Linear(65536, 1024)).cuda()


def oom(large=False):
    rows = 2**20 if large else 2**10
    return network(torch.zeros(rows, 1024, device="cuda")).sum().item()


try:
    oom(True)
except Exception as e:
    print("out of memory" in str(e))
    del e
    oom()  # expect: oom-retry-in-except
