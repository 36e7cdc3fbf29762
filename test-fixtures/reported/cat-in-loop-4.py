# Outputs by name in a dictionary that a helper grows by torch.cat, batch by batch.
import torch
import torch.nn as nn
import torchvision


def update(results, values):
    for key, value in values.items():
        if key not in results:
            results[key] = value
        else:
            results[key] = torch.cat([results[key], value])  # expect: cat-in-loop


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torchvision.models.resnet18(num_classes=256)
        self.first = nn.Linear(256, 10)
        self.second = nn.Linear(256, 5)

    def forward(self, x):
        features = self.body(x)
        return {"first": self.first(features), "second": self.second(features)}


def predict(loader):
    model = TwoHeads().cuda().eval()
    results = {}
    with torch.no_grad():
        for images, _ in loader:
            update(results, model(images.cuda()))
    return results
