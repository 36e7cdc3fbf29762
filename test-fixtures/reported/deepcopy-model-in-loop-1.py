# Weights copied on the GPU each epoch.
import copy

import torch


def fit(model, loader, epochs=50):
    model = model.cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    snapshots = []
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x.cuda()), y.cuda()).backward()
            optimizer.step()
        snapshots.append(copy.deepcopy(model.state_dict()))  # expect: deepcopy-model-in-loop
    return snapshots
