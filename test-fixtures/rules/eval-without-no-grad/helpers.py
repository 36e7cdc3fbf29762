"""One caller disables gradients, the other forgets it."""
import torch
from torch import nn
from torch import no_grad as ng


def evaluate(model, batches):
    hits = total = 0
    for x, y in batches:
        hits += (model(x).argmax(-1) == y).sum().item()  # expect: eval-without-no-grad
        total += y.numel()
    return hits / total


def fit(model, batches, held_out, epochs=3):
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(epochs):
        model.train()
        for x, y in batches:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        model.eval()
        with ng():
            print("train", evaluate(model, batches))
        print("held out", evaluate(model, held_out))


if __name__ == "__main__":
    data = [(torch.randn(8, 12), torch.randint(4, (8,))) for _ in range(40)]
    fit(nn.Linear(12, 4), data, data[:4])
