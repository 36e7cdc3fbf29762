"""Models without a `.cuda()` of their own that may be on the GPU all the same."""
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader
from torchvision.models import resnet50

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
loader = DataLoader([torch.randn(3, 224, 224) for _ in range(1000)], batch_size=64)


class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3 * 224 * 224, 512).to(device)

    def forward(self, images):
        return self.layer(images.to(device).flatten(1))


def place(network):
    network.to(device)


own = Features()
features = []
with torch.no_grad():
    for images in loader:
        features.append(own(images))  # expect: outputs-kept-on-device
features = torch.cat(features)

placed = resnet50()
place(placed)
outputs = []
with torch.no_grad():
    for images in loader:
        outputs.append(placed(images.to(device)))  # expect: outputs-kept-on-device
outputs = torch.cat(outputs)

by_parts = resnet50()
by_parts.apply(lambda module: module.cuda())
results = []
with torch.no_grad():
    for images in loader:
        results.append(by_parts(images.to(device)))  # expect: outputs-kept-on-device
results = torch.cat(results)

accelerator = Accelerator()
prepared, batches = resnet50(), loader
accelerator.prepare_model(prepared)
scores = []
with torch.no_grad():
    for images in batches:
        scores.append(prepared(images))  # expect: outputs-kept-on-device
scores = torch.cat(scores)

alias = resnet50()
moved = alias.eval()
moved.cuda()
logits = []
with torch.no_grad():
    for images in loader:
        logits.append(alias(images.to(device)))  # expect: outputs-kept-on-device
logits = torch.cat(logits)
