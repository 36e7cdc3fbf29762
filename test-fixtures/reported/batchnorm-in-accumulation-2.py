# A segmentation network, eight images of which fit, and accumulation to get to sixteen.
import torch
from torch import nn
from torch.utils.data import DataLoader


class UNet(nn.Module):
    def __init__(self, width=64, classes=2):
        super().__init__()
        self.down = self.block(3, width)
        self.up = self.block(width, width)
        self.out = nn.Conv2d(width, classes, 1)

    def block(self, inputs, outputs):
        return nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True)
        )

    def forward(self, x):
        return self.out(self.up(self.down(x)))


def train(dataset, epochs=50, accumulate=2):
    net = UNet().cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    loader = DataLoader(dataset, batch_size=8, shuffle=True)
    for epoch in range(epochs):
        for step, (image, mask) in enumerate(loader, start=1):
            loss = nn.functional.cross_entropy(net(image.cuda()), mask.cuda()) / accumulate
            loss.backward()
            if step % accumulate == 0 or step == len(loader):  # expect: batchnorm-in-accumulation
                optimizer.step()
                optimizer.zero_grad()
