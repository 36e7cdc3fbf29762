# Losses are summed by an inner loop of the iteration that walks them, or carried from one iteration to the next.
import torch
from torch import nn
from torch.nn import functional as F

model = nn.Linear(8, 1).cuda()
optimizer = torch.optim.Adam(model.parameters())


def of_one_batch(batches):
    for batch in batches:
        losses = 0
        for x, y in batch:
            losses = losses + F.mse_loss(model(x.cuda()), y.cuda())
        optimizer.zero_grad()
        losses.backward(retain_graph=True)  # expect: retain-graph-in-loop
        optimizer.step()


def of_all_batches(batches):
    losses = 0
    for batch in batches:
        for x, y in batch:
            losses = losses + F.mse_loss(model(x.cuda()), y.cuda())
        optimizer.zero_grad()
        losses.backward(retain_graph=True)
        optimizer.step()


def begun_anew_now_and_then(batches):
    losses = 0
    for step, batch in enumerate(batches):
        for x, y in batch:
            losses = losses + F.mse_loss(model(x.cuda()), y.cuda())
        optimizer.zero_grad()
        losses.backward(retain_graph=True)
        optimizer.step()
        if step % 4 == 3:
            losses = 0
