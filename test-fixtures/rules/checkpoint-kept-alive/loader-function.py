# A function of the file loads: what it gives back lies where it was told to put it.
import torch
from torch import nn


def load_checkpoint(path, device="cuda"):
    return torch.load(path, map_location=device)


def load_model(path, model):
    state = torch.load(path, map_location="cuda")
    model.load_state_dict(state)
    return model


def main(loader):
    device = torch.device("cuda:0")
    model = load_model("first.pt", nn.Linear(128, 10).to(device))
    state = load_checkpoint("last.pt", device)  # expect: checkpoint-kept-alive
    model.load_state_dict(state)
    early = load_checkpoint("early.pt", "cpu")
    model.load_state_dict(early)
    optimizer = torch.optim.AdamW(model.parameters())
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x.to(device)), y.to(device)).backward()
        optimizer.step()
