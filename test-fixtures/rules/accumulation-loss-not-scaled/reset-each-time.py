"""Where every micro-batch resets the gradients there is no sum to be scaled until that is mended."""
import torch
from torch import nn

from data import loader

model = nn.Linear(16, 4).cuda()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)


def train(k=4):
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()  # expect: zero-grad-each-microbatch
        loss = criterion(model(x.cuda()), y.cuda())
        loss.backward()  # expect: accumulation-loss-not-scaled
        if (i + 1) % k == 0 or i + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()


def train_with_inner_loop(k=4):
    for batches in loader:
        for x, y in batches:
            optimizer.zero_grad()  # expect: zero-grad-each-microbatch
            loss = criterion(model(x.cuda()), y.cuda())
            loss.backward()
        optimizer.step()


def train_rightly(k=4):
    for i, (x, y) in enumerate(loader):
        loss = criterion(model(x.cuda()), y.cuda())
        loss.backward()  # expect: accumulation-loss-not-scaled
        if (i + 1) % k == 0 or i + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()
