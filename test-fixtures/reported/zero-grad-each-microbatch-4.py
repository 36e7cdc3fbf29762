# "zero_grad(set_to_none=True) is called inside the inner loop, so gradients are cleared every microbatch."
# https://github.com/bytetriper/RAE/issues/67
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, loader, rank):
    model = DDP(nn.Sequential(nn.Linear(768, 3072), nn.GELU(), nn.Linear(3072, 768)).to(rank), device_ids=[rank])
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
    train_steps = 0
    for epoch in range(args.epochs):
        model.train()
        accum_counter = 0
        for x, y in loader:
            x = x.to(rank)
            optimizer.zero_grad(set_to_none=True)  # expect: zero-grad-each-microbatch
            with torch.autocast("cuda", dtype=torch.bfloat16):
                loss = nn.functional.mse_loss(model(x), y.to(rank))
            (loss / args.grad_accum_steps).backward()  # expect: accumulation-without-no-sync
            accum_counter += 1
            if accum_counter == args.grad_accum_steps:  # expect: accumulation-last-group
                nn.utils.clip_grad_norm_(model.parameters(), args.clip_grad)
                optimizer.step()
                accum_counter = 0
                train_steps += 1
