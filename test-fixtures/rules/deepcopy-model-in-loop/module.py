"""The module itself, kept to be returned."""
import copy

import torch


def train(net, loader, evaluate):
    net = net.to("cuda")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    best_score = 0.0
    best_net = None
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
        score = evaluate(net)
        if best_net is None or score > best_score:
            best_score = score
            best_net = copy.deepcopy(net)  # expect: deepcopy-model-in-loop
    return best_net
