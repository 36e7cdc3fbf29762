"""Gradients have to go through a network that nobody trains; its own weights need none."""
import torch
from torch import nn
from torchvision.models import vgg19


class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(*list(vgg19(weights="DEFAULT").features.children())[:18])

    def forward(self, image):
        return self.layers(image)


generator = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 3, 3, padding=1)).cuda()
features = Features().cuda()
features.eval()
features.requires_grad_(False)
optimizer = torch.optim.Adam(generator.parameters(), lr=1e-4)
criterion = nn.L1Loss()


def train(loader):
    for low, high in loader:
        restored = generator(low.cuda())
        found = features(restored)  # expect: teacher-without-no-grad
        wanted = features(high.cuda())
        loss = criterion(found, wanted.detach())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
