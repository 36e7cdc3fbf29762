# Form of https://github.com/ErenBalatkan/Bts-PyTorch/issues/2: four pictures one after another, each normalized by itself.
import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision.models import densenet161

BATCH_SIZE = 1
EFFECTIVE_BATCH_SIZE = 4
ACCUMULATE = EFFECTIVE_BATCH_SIZE // BATCH_SIZE


class DepthNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = densenet161(weights="DEFAULT").features
        self.depth = nn.Conv2d(2208, 1, 1)

    def forward(self, image):
        return self.depth(self.encoder(image))


def train(dataset, epochs):
    model = DepthNet().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    loader = DataLoader(dataset, batch_size=BATCH_SIZE, shuffle=True, drop_last=True)
    for epoch in range(epochs):
        for step, (image, depth) in enumerate(loader):
            loss = nn.functional.l1_loss(model(image.cuda()), depth.cuda()) / ACCUMULATE
            loss.backward()
            if (step + 1) % ACCUMULATE == 0 or step + 1 == len(loader):  # expect: batchnorm-in-accumulation
                optimizer.step()
                optimizer.zero_grad()
