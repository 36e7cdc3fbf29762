"""A script evaluates, defines a helper and a class, evaluates again: two passes, and the definitions stay where they are."""
import functools

import torch
from torch import nn

model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 4)).cuda()
model.load_state_dict(torch.load("model.pt", map_location="cpu"))
test_batches = [(torch.randn(8, 32).cuda(), torch.randint(4, (8,)).cuda()) for _ in range(1000)]

model.eval()
with torch.no_grad():
    scores = model(test_batches[0][0])  # expect: eval-without-no-grad
print(scores.softmax(dim=1)[0])


def accuracy(scores, labels):
    return (scores.argmax(dim=1) == labels).float().mean().item()


class Meter:
    def __init__(self):
        self.values = []


meter = Meter()
with torch.no_grad():
    for inputs, labels in test_batches:
        meter.values.append(accuracy(model(inputs), labels))  # expect: eval-without-no-grad
print(sum(meter.values) / len(meter.values))


@functools.cache
def name_of(index):
    return ["cat", "dog", "horse", "bird"][index]


with torch.no_grad():
    scores = model(test_batches[1][0])  # expect: eval-without-no-grad
    print(name_of(scores[0].argmax().item()))
    scores = model(test_batches[2][0])
print(name_of(scores[0].argmax().item()))
