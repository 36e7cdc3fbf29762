import torch
from torch import nn

model = nn.Linear(16, 16).cuda()


def fetch(index):
    return torch.randn(4, 16)


def read(index):
    try:
        return model(fetch(index).cuda())
    except ConnectionError:
        return model(fetch(index).cuda())


def on_cpu(x):
    try:
        return model(x.cuda())
    except torch.cuda.OutOfMemoryError:
        model.cpu()
        return model(x.cpu())


def later(x, queue):
    try:
        return model(x.cuda())
    except torch.cuda.OutOfMemoryError:
        print("put off")
        queue.append(lambda: model(x.cuda()))


def generic(x):
    try:
        return model(x.cuda())
    except RuntimeError:
        return model(x.float().cuda())
