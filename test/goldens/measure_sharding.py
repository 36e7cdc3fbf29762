"""Measures what each of several processes holds of the model states: parameters, gradients, optimizer state and DDP's
buckets, for DistributedDataParallel, ZeroRedundancyOptimizer, fully_shard (FSDP2) and FullyShardedDataParallel (FSDP1).

    python measure_sharding.py > sharding.json

Runs on the CPU with gloo: the sizes are decided by PyTorch's Python and reducer code, not by the device. Storages are
counted once, in bytes.
"""
import json
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(50, 301), nn.ReLU(), nn.Linear(301, 128), nn.ReLU(), nn.Linear(128, 10))

    def forward(self, x):
        return self.layers(x)


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, 3, padding=1)
        self.norm1 = nn.BatchNorm2d(32)
        self.conv2 = nn.Conv2d(32, 70, 3, padding=1)
        self.norm2 = nn.BatchNorm2d(70)
        self.head = nn.Linear(70, 10)

    def forward(self, x):
        x = torch.relu(self.norm1(self.conv1(x)))
        x = torch.relu(self.norm2(self.conv2(x)))
        return self.head(x.mean((2, 3)))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


class Transformer(nn.Module):
    def __init__(self, width=192, depth=4):
        super().__init__()
        self.embedding = nn.Embedding(1000, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.head = nn.Linear(width, 1000)

    def forward(self, x):
        x = self.embedding(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


MODELS = {
    "Mlp": lambda: (Mlp(), torch.randn(4, 50)),
    "Cnn": lambda: (Cnn(), torch.randn(4, 3, 8, 8)),
    "Transformer": lambda: (Transformer(), torch.randint(1000, (2, 8))),
}


def storage_bytes(tensors):
    found = {}
    for tensor in tensors:
        if hasattr(tensor, "to_local"):
            tensor = tensor.to_local()
        storage = tensor.untyped_storage()
        found[storage.data_ptr() or id(storage)] = storage.nbytes()
    return sum(found.values())


def state_tensors(optimizer):
    for state in optimizer.state.values():
        for value in state.values():
            if isinstance(value, torch.Tensor) and value.dim() > 0:
                yield value


def states(model, optimizer):
    parameters = list(model.parameters())
    gradients = [p.grad for p in parameters if p.grad is not None]
    return {
        "parameters": storage_bytes(parameters),
        "buffers": storage_bytes(model.buffers()),
        "gradients": storage_bytes(gradients),
        "optimizer": storage_bytes(state_tensors(optimizer)),
    }


def steps(model, x, optimizer, count=2):
    for _ in range(count):
        optimizer.zero_grad()
        model(x).float().sum().backward()
        optimizer.step()


def ddp(model, x, as_view):
    wrapped = DistributedDataParallel(model, gradient_as_bucket_view=as_view)
    optimizer = torch.optim.AdamW(wrapped.parameters())
    steps(wrapped, x, optimizer, 3)
    logged = wrapped._get_ddp_logging_data()
    sizes = logged.get("rebuilt_bucket_sizes") or logged["bucket_sizes"]
    buckets = [int(size) for size in str(sizes).split(",")]
    result = states(model, optimizer)
    result["bucket_sizes"] = buckets
    result["buckets_beside_gradients"] = 0 if as_view else sum(buckets)
    return result


def zero1(model, x):
    wrapped = DistributedDataParallel(model)
    optimizer = ZeroRedundancyOptimizer(wrapped.parameters(), optimizer_class=torch.optim.AdamW)
    steps(wrapped, x, optimizer)
    result = states(model, optimizer.optim)
    return result


def fsdp2(model, x):
    for module in model.modules():
        if isinstance(module, Block):
            fully_shard(module)
    fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters())
    steps(model, x, optimizer)
    return states(model, optimizer)


def fsdp1(model, x):
    wrapped = FullyShardedDataParallel(
        model, auto_wrap_policy=ModuleWrapPolicy({Block}), device_id=torch.device("cpu"), use_orig_params=False
    )
    optimizer = torch.optim.AdamW(wrapped.parameters())
    steps(wrapped, x, optimizer)
    return states(wrapped, optimizer)


WAYS = {
    "ddp": lambda m, x: ddp(m, x, False),
    "ddp-bucket-view": lambda m, x: ddp(m, x, True),
    "zero1": zero1,
    "fsdp": fsdp2,
    "fsdp1": fsdp1,
}


def work(rank, world, folder):
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=world)
    torch.set_num_threads(1)
    found = []
    for name, make in MODELS.items():
        for way, run in WAYS.items():
            torch.manual_seed(0)
            model, x = make()
            found.append({"model": name, "way": way, **run(model, x)})
            dist.barrier()
    with open(f"{folder}/{rank}.json", "w") as file:
        json.dump(found, file)
    dist.barrier()
    dist.destroy_process_group()


def main():
    runs = []
    for world in (2,):
        with tempfile.TemporaryDirectory() as folder:
            mp.spawn(work, args=(world, folder), nprocs=world)
            ranks = [json.load(open(f"{folder}/{rank}.json")) for rank in range(world)]
        for same in zip(*ranks):
            figures = [{key: value for key, value in one.items() if key not in ("model", "way")} for one in same]
            runs.append({"model": same[0]["model"], "way": same[0]["way"], "devices": world, "ranks": figures})
    json.dump({"torch": torch.__version__, "backend": "gloo", "runs": runs}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
