import time

import torch
from torch import nn

model = nn.Linear(8, 8).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader([torch.randn(8)] * 64, batch_size=8)


def synchronized(x):
    torch.cuda.synchronize()
    start = time.time()
    model(x.cuda())
    torch.cuda.synchronize()
    return time.time() - start


def with_events(x):
    first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin = time.time()
    first.record()
    model(x.cuda())
    last.record()
    wall = time.time() - begin
    return first.elapsed_time(last), wall


def value_read(x):
    start = time.time()
    loss = model(x.cuda()).mean()
    loss.backward()
    total = loss.item()
    print(total, time.time() - start)


def copied(x):
    start = time.time()
    out = model(x.cuda()).cpu()
    return out, time.time() - start


def unknown(x, post_process):
    start = time.time()
    boxes = post_process(model(x.cuda()))
    return boxes, time.time() - start


def epoch():
    start = time.time()
    for x in loader:
        optimizer.zero_grad()
        model(x.cuda()).mean().backward()
        optimizer.step()
    print("epoch", time.time() - start)


def loading():
    start = time.time()
    loaded = torch.load("weights.pt", map_location="cpu")
    print("loaded", time.time() - start)
    return loaded
