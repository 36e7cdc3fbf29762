# The layers stand in a block of the model; the batch is an option's default.
import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.bn = nn.BatchNorm2d(channels)

    def forward(self, x):
        return x + F.relu(self.bn(self.conv(x)))


class Net(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.stem = nn.Conv2d(3, 64, 7, stride=2)
        self.blocks = nn.Sequential(*[Block(64) for _ in range(depth)])
        self.head = nn.Conv2d(64, 21, 1)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)))


class Trainer:
    def __init__(self, args, dataset):
        self.args = args
        self.net = Net(depth=4).cuda()
        self.loader = torch.utils.data.DataLoader(dataset, args.batch_size, shuffle=True, num_workers=4)
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def train(self):
        self.net.train()
        for step, (image, mask) in enumerate(self.loader, 1):
            loss = F.cross_entropy(self.net(image.cuda()), mask.cuda())
            (loss / self.args.accumulate).backward()
            if step % self.args.accumulate == 0 or step == len(self.loader):  # expect: batchnorm-in-accumulation
                self.optimizer.step()
                self.optimizer.zero_grad()


def main(dataset):
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=2)
    parser.add_argument("--accumulate", type=int, default=16)
    Trainer(parser.parse_args(), dataset).train()
