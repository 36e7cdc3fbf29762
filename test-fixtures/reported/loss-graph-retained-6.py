# Losses of several heads in a dictionary, each added to its list for the epoch: "it should be loss[key].item()".
# https://github.com/jokester-zzz/SSA-SC/issues/2
import numpy as np
import torch
from torch import nn


class SSC(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv3d(1, 16, 3, padding=1), nn.ReLU())
        self.full = nn.Conv3d(16, 20, 1)
        self.half = nn.Conv3d(16, 20, 1, stride=2)

    def forward(self, x):
        features = self.body(x["3D_OCCUPANCY"])
        return {"pred_1_1": self.full(features), "pred_1_2": self.half(features)}

    def compute_loss(self, scores, data):
        loss_1_1 = nn.functional.cross_entropy(scores["pred_1_1"], data["3D_LABEL"]["1_1"])
        loss_1_2 = nn.functional.cross_entropy(scores["pred_1_2"], data["3D_LABEL"]["1_2"])
        return {"total": loss_1_1 + loss_1_2, "semantic_1_1": loss_1_1, "semantic_1_2": loss_1_2}


def validate(model, dset, device):
    losses = {"total": [], "semantic_1_1": [], "semantic_1_2": []}
    model.eval()
    for t, (data, indices) in enumerate(dset):
        data = {name: value.to(device) for name, value in data.items()}
        scores = model(data)  # expect: eval-without-no-grad
        loss = model.compute_loss(scores, data)
        for key in loss:
            losses[key].append(loss[key])  # expect: loss-graph-retained
    return {key: torch.stack(values).mean().item() for key, values in losses.items()}


def train(model, optimizer, dset, device):
    model.train()
    for t, (data, indices) in enumerate(dset):
        data = {name: value.to(device) for name, value in data.items()}
        loss = model.compute_loss(model(data), data)
        optimizer.zero_grad()
        loss["total"].backward()
        optimizer.step()


def main(train_set, valid_set):
    device = torch.device("cuda:0")
    model = SSC().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(80):
        train(model, optimizer, train_set, device)
        print(np.round(validate(model, valid_set, device)["total"], 4))
