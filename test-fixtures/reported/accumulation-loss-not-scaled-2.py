# The number of steps comes from the command line, the loss from a method, the scaler in between.
import argparse

import torch
from torch import nn
from torch.amp import GradScaler, autocast


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Conv2d(3, 32, 3, padding=1)
        self.box = nn.Conv2d(32, 4, 1)

    def forward(self, x):
        return self.box(self.backbone(x).relu())

    def loss(self, prediction, target):
        return nn.functional.smooth_l1_loss(prediction, target)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--accum-iter", type=int, default=8)
    args = p.parse_args()
    model = Detector().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scaler = GradScaler("cuda")
    optimizer.zero_grad()
    for data_iter_step, (image, boxes) in enumerate(zip(torch.rand(800, 2, 3, 64, 64), torch.rand(800, 2, 4, 64, 64))):
        with autocast("cuda"):
            loss = model.loss(model(image.cuda()), boxes.cuda())
        scaler.scale(loss).backward()  # expect: accumulation-loss-not-scaled
        if (data_iter_step + 1) % args.accum_iter == 0:  # expect: accumulation-last-group
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()


main()
