"""The statement is left over: what follows has turned gradients off itself."""
import torch


def test(model, loader):
    model.eval()
    torch.no_grad()
    right = 0
    with torch.no_grad():
        for batch, labels in loader:
            right += (model(batch).argmax(dim=1) == labels).sum().item()
    print(right)


def test_twice(model, loader):
    torch.no_grad()  # expect: no-grad-not-applied
    with torch.no_grad():
        first = model(next(iter(loader))[0])
    print(first, [model(batch).argmax(dim=1).item() for batch, _ in loader])
