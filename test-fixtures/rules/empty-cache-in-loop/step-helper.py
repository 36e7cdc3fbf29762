"""The call hides in the function that runs one batch."""
import argparse
import gc

import torch as th
from torch import nn


def train_step(net, opt, x, y):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    value = loss.item()
    th.cuda.empty_cache()  # expect: empty-cache-in-loop
    return value


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=1000)
    args = parser.parse_args()
    net = nn.Sequential(nn.Linear(100, 400), nn.ReLU(), nn.Linear(400, 10)).cuda()
    opt = th.optim.SGD(net.parameters(), lr=0.1)
    step = 0
    while step < args.steps:
        x, y = th.randn(64, 100, device="cuda"), th.randint(10, (64,), device="cuda")
        value = train_step(net, opt, x, y)
        if step % 100 == 0:
            gc.collect()
            print(step, value)
        step += 1


main()
