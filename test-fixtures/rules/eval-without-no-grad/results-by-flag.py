"""A forward that gives something else where a flag says so: what this call gives holds no graph."""
import numpy as np
import torch
from torch import nn


class GraphNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 8)])
        self.head = nn.Linear(8, 2)

    def forward(self, x, latent=False):
        for layer in self.layers:
            x = torch.relu(layer(x))
        scores = self.head(x)
        if latent:
            return x.detach().cpu().numpy()
        else:
            return scores


model = GraphNet().cuda()


def latent_space(graphs):
    model.eval()
    rows = []
    for graph in graphs:
        rows.append(model(graph.cuda(), latent=True))
    return np.concatenate(rows)


def scores_of(graphs):
    model.eval()
    rows = []
    for graph in graphs:
        # expect-next: eval-without-no-grad
        rows.append(model(graph.cuda()))  # expect: loss-graph-retained
    return torch.cat(rows).argmax(dim=1).tolist()


def scores_by_flag(graphs):
    model.eval()
    rows = []
    for graph in graphs:
        # expect-next: eval-without-no-grad
        rows.append(model(graph.cuda(), False))  # expect: loss-graph-retained
    return torch.cat(rows).argmax(dim=1).tolist()
