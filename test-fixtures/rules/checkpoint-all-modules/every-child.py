# Every child of the model is a segment of its own, the activation functions too.
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint as cp


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 3, padding=1)
        self.relu1 = nn.ReLU()
        self.conv2 = nn.Conv2d(64, 64, 3, padding=1)
        self.relu2 = nn.ReLU()
        self.pool = nn.AdaptiveAvgPool2d(1)

    def forward(self, x):
        for layer in self.children():
            x = cp(layer, x, use_reentrant=False)  # expect: checkpoint-all-modules
        return x.flatten(1)


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(100):
    images = torch.rand(8, 3, 32, 32)
    labels = torch.randint(64, (8,))
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(images), labels)
    loss.backward()
    optimizer.step()
