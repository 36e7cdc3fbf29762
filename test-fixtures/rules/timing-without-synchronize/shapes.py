from time import perf_counter as now
import timeit

import torch as th
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 8), nn.ReLU())

    def forward(self, x):
        return self.layers(x)


device = th.device("cuda")
net = Net().to(device)
optimizer = th.optim.SGD(net.parameters(), lr=0.1)
criterion = nn.MSELoss()


def training_step(x, y):
    t0 = now()
    loss = criterion(net(x), y)
    t1 = now()  # expect: timing-without-synchronize
    loss.backward()
    optimizer.step()
    t2 = now()
    print("forward", t1 - t0, "both", t2 - t0)


def latency(x, repeats=100):
    begin = timeit.default_timer()
    for _ in range(repeats):
        with th.inference_mode():
            net(x)
    return (timeit.default_timer() - begin) / repeats  # expect: timing-without-synchronize


class Runner:
    def __init__(self):
        self.net = Net().cuda()

    def run(self, batches):
        for batch in batches:
            t = now()
            self.net(batch.cuda())
            print(f"{now() - t:.3f} s")  # expect: timing-without-synchronize
