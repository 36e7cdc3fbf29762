"""A recorder class, a factory of hooks, a lambda, a container by name."""
from collections import defaultdict

import torch
from torch import nn
from torchvision.models import resnet18

model = resnet18().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader([(torch.randn(3, 224, 224), 0)], batch_size=32)
by_name = defaultdict(list)
inputs_seen = []


class Recorder:
    def __init__(self, module):
        self.outputs = []
        self.handle = module.register_forward_hook(self.hook)

    def hook(self, module, args, output):
        self.outputs.append(output.flatten(1))  # expect: hook-keeps-tensor


def recording(name):
    def hook(module, args, output):
        by_name[name].append(output)  # expect: hook-keeps-tensor

    return hook


recorder = Recorder(model.layer4)
for name, child in model.named_children():
    child.register_forward_hook(recording(name))
model.fc.register_forward_pre_hook(lambda module, args: inputs_seen.append(args[0]))  # expect: hook-keeps-tensor

for images, labels in loader:
    loss = nn.functional.cross_entropy(model(images.cuda()), labels.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
