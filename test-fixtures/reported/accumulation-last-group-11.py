# An epoch is the first batches of a long loader; those left over at its end take no step, and the next epoch drops them.
import itertools

import torch
import torch.nn as nn
from torch.utils.data import DataLoader

STEPS_PER_EPOCH = 1000
ACCUMULATE = 16


def train(dataset, epochs=10):
    model = nn.Linear(128, 10).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    loader = DataLoader(dataset, batch_size=4, shuffle=True)
    for epoch in range(epochs):
        optimizer.zero_grad()
        for i, (x, y) in enumerate(itertools.islice(loader, STEPS_PER_EPOCH)):
            loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda()) / ACCUMULATE
            loss.backward()
            if (i + 1) % ACCUMULATE == 0:  # expect: accumulation-last-group
                optimizer.step()
                optimizer.zero_grad()
