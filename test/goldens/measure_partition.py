"""Which process gets which parameter under ZeroRedundancyOptimizer: the partition of PyTorch's own code, for worlds of
several sizes. The processes are not started: a process group that only pretends to send answers for them.

    python measure_partition.py > partition.json
"""
import json

import torch
import torch.distributed as dist
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.testing._internal.distributed.fake_pg import FakeStore

from measure_sharding import MODELS


def partition(make, devices):
    dist.init_process_group("fake", rank=0, world_size=devices, store=FakeStore())
    torch.manual_seed(0)
    parameters = list(make()[0].parameters())
    optimizer = ZeroRedundancyOptimizer(parameters, optimizer_class=torch.optim.SGD, lr=0.1)
    ranks = {}
    for rank, groups in enumerate(optimizer._partition_parameters()):
        for group in groups:
            for parameter in group["params"]:
                ranks[parameter] = rank
    dist.destroy_process_group()
    return {"elements": [p.numel() for p in parameters], "ranks": [ranks[p] for p in parameters]}


if __name__ == "__main__":
    runs = [
        {"model": name, "devices": devices, **partition(make, devices)}
        for name, make in MODELS.items()
        for devices in (2, 3, 4, 8)
    ]
    print(json.dumps({"torch": torch.__version__, "runs": runs}))
