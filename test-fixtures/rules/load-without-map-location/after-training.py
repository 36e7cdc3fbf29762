# One function trains and tests: what is loaded for the last test is not there in training.
import torch
from torch import nn


def iterate(loader, model, optimizer=None, mode="test"):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
        if mode == "train":
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(loss.item())


def main(train_loader, test_loader):
    model = nn.Linear(128, 10).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(10):
        iterate(train_loader, model, optimizer, mode="train")
    # expect-next: load-without-map-location
    checkpoint = torch.load("model_best.pth")
    model.load_state_dict(checkpoint["state_dict"])
    with torch.no_grad():
        iterate(test_loader, model, mode="test")
    print(checkpoint["epoch"])


def resume(train_loader):
    model = nn.Linear(128, 10).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    # expect-next: load-without-map-location
    checkpoint = torch.load("last.pth")
    model.load_state_dict(checkpoint["state_dict"])
    for epoch in range(checkpoint["epoch"], 10):
        iterate(train_loader, model, optimizer, mode="train")
