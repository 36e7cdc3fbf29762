# Nothing is switched off where the forward is, but in every caller.
import torch
from torch import nn, optim


def validate(model, loader, criterion):
    model.eval()
    total = 0.0
    for x, y in loader:
        total += compute(model, x, y, criterion).item()
    return total / len(loader)


def compute(model, x, y, criterion):
    return criterion(model(x), y)


@torch.inference_mode()
def final_test(model, loader, criterion):
    print("test", validate(model, loader, criterion))


def main():
    model, criterion = nn.Linear(10, 1), nn.MSELoss()
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    data = [(torch.randn(4, 10), torch.randn(4, 1)) for _ in range(30)]
    for epoch in range(5):
        model.train()
        for x, y in data:
            optimizer.zero_grad()
            compute(model, x, y, criterion).backward()
            optimizer.step()
        with torch.no_grad():
            print(epoch, validate(model, data[:5], criterion))
    final_test(model, data[:5], criterion)


if __name__ == "__main__":
    main()
