"""Detached, overwritten, emptied, bounded, or used for the loss."""
from collections import deque

import torch
from torch import nn
from torchvision.models import resnet18

model = resnet18().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader([(torch.randn(3, 224, 224), 0)], batch_size=32)
detached = []
latest = {}
emptied = []
recent = deque(maxlen=4)
shapes = []
for_the_loss = []


def hook(module, args, output):
    detached.append(output.detach().cpu())
    latest["layer4"] = output
    emptied.append(output)
    recent.append(output)
    shapes.append(output.shape)


def regularized(module, args, output):
    for_the_loss.append(output)


class Features:
    def __init__(self, module):
        module.register_forward_hook(self.keep)

    def keep(self, module, args, output):
        self.features.append(output)

    def __call__(self, images):
        self.features = []
        return model(images), self.features


model.layer4.register_forward_hook(hook)
model.layer3.register_forward_hook(regularized)
features = Features(model.layer2)

for images, labels in loader:
    loss = nn.functional.cross_entropy(model(images.cuda()), labels.cuda())
    loss = loss + 1e-3 * for_the_loss[-1].pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    emptied.clear()
    for_the_loss.clear()
