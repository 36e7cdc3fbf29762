# An image codec: the criterion gives a dictionary of rate and distortion, and the meters get its tensors.
# https://github.com/lyq133/LIC-HPCM/issues/4
import math

import torch
import torch.nn as nn


class RateDistortionLoss(nn.Module):
    def __init__(self, lmbda=1e-2):
        super().__init__()
        self.mse = nn.MSELoss()
        self.lmbda = lmbda

    def forward(self, output, target):
        N, _, H, W = target.size()
        out = {}
        out["bpp_loss"] = torch.log(output["likelihoods"]).sum() / (-math.log(2) * N * H * W)
        out["mse_loss"] = self.mse(output["x_hat"], target)
        out["loss"] = self.lmbda * 255**2 * out["mse_loss"] + out["bpp_loss"]
        return out


class AverageMeter:
    """Compute running average."""

    def __init__(self):
        self.val = 0
        self.avg = 0
        self.sum = 0
        self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count


def train_one_epoch(model, criterion, train_dataloader, optimizer, epoch):
    model.train()
    device = next(model.parameters()).device
    loss = AverageMeter()
    bpp_loss = AverageMeter()
    for i, d in enumerate(train_dataloader):
        d = d.to(device)
        optimizer.zero_grad()
        out_net = model(d)
        out_criterion = criterion(out_net, d)
        out_criterion["loss"].backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        loss.update(out_criterion["loss"])  # expect: graph-retained-after-backward
        bpp_loss.update(out_criterion["bpp_loss"])  # expect: graph-retained-after-backward
        if i % 100 == 0:
            print(f"Train epoch {epoch}: {i} loss {loss.avg:.3f} bpp {bpp_loss.avg:.3f}")


def main(train_dataloader):
    net = nn.Conv2d(3, 3, 5, padding=2).cuda()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-4)
    criterion = RateDistortionLoss(lmbda=0.013)
    for epoch in range(100):
        train_one_epoch(net, criterion, train_dataloader, optimizer, epoch)
