"""What is kept is no tensor: asked before, or turned into a number first."""
import numbers

import torch
from torch import nn
from torchvision.models import resnet18

model = resnet18().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader([(torch.randn(3, 224, 224), 0)], batch_size=32)


class Meter:
    def __init__(self):
        self.total = 0.0
        self.values = []
        self.numbers = []

    def update(self, value, n=1):
        if isinstance(value, torch.Tensor):
            value = value.item()
        self.total += value * n

    def add(self, value):
        self.values.append(value.item() if torch.is_tensor(value) else value)

    def log(self, value):
        if not isinstance(value, (int, float)):
            value = value.detach().cpu()
        self.values.append(value)

    def number(self, value):
        if hasattr(value, "item"):
            self.numbers.append(value.item())
        else:
            self.numbers.append(value)

    def only_numbers(self, value):
        if isinstance(value, numbers.Number):
            self.numbers.append(value)


meter = Meter()
for images, labels in loader:
    loss = nn.functional.cross_entropy(model(images.cuda()), labels.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    meter.update(loss, images.size(0))
    meter.add(loss)
    meter.log(loss)
    meter.number(loss)
    meter.only_numbers(loss)


def hutchinson(x, score):
    traces = []
    for _ in range(100):
        noise = torch.zeros_like(x).normal_()
        point = x.clone().requires_grad_()
        total = (score(point) * noise).sum()
        gradient = torch.autograd.grad(total, point)[0]
        traces.append((gradient * noise).sum(dim=1))
    return torch.stack(traces).mean(0)


hutchinson(torch.randn(8, 3, 224, 224), model)
