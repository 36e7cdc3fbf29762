# Epoch losses in a dictionary of lists, averaged when the epoch ends.
from collections import defaultdict

import torch


def train(model, loader):
    model = model.cuda()
    optimizer = torch.optim.Adam(model.parameters())
    logs = defaultdict(list)
    for x, y in loader:
        out = model(x.cuda())
        losses = {"ce": torch.nn.functional.cross_entropy(out, y.cuda()), "reg": out.pow(2).mean()}
        loss = sum(losses.values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for name, value in losses.items():
            logs[name].append(value)  # expect: graph-retained-after-backward
    return {name: torch.stack(values).mean().item() for name, values in logs.items()}
