import torch
from architecture import exported, network
from architecture.network import alias, model, test_loader, wide

criterion = torch.nn.CrossEntropyLoss()

model.eval()
correct = 0
for x, y in test_loader:
    correct += (model(x).argmax(dim=1) == y).sum().item()  # expect: eval-without-no-grad
print(correct)


def evaluate(batches):
    wide.eval()
    total = 0.0
    for x, y in batches:
        total += criterion(wide(x), y).item()  # expect: eval-without-no-grad
    return total / len(batches)


def of_package(batches):
    exported.eval()
    return [exported(x).argmax(dim=1).tolist() for x, _ in batches]  # expect: eval-without-no-grad


def of_module(batches):
    network.model.eval()
    predictions = []
    for x, _ in batches:
        predictions.extend(network.model(x).argmax(dim=1).tolist())  # expect: eval-without-no-grad
    return predictions


def of_alias(batches):
    alias.eval()
    predictions = []
    for x, _ in batches:
        predictions.extend(alias.forward(x).argmax(dim=1).tolist())  # expect: eval-without-no-grad
    return predictions


print(evaluate(test_loader), of_package(test_loader), of_module(test_loader), of_alias(test_loader))
