import argparse
import math
import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Scaler:
    """Does what follows the loss: backward, clipping, the step."""

    def __init__(self, clip):
        self.clip = clip

    def __call__(self, loss, optimizer, parameters=None, update_grad=True):
        loss.backward()
        if update_grad:
            if self.clip is not None:
                nn.utils.clip_grad_norm_(parameters, self.clip)
            optimizer.step()


class Meter:
    def __init__(self):
        self.total = 0.0

    def log_every(self, items, every):
        i = 0
        for item in items:
            yield item
            i += 1
            if i % every == 0:
                print(i, self.total)


class Masked(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 4, 4)
        self.blocks = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.head = nn.Linear(width, 48)

    def forward(self, images, ratio=0.5):
        tokens = self.patches(images).flatten(2).transpose(1, 2)
        batch, length, width = tokens.shape
        keep = int(length * (1 - ratio))
        order = torch.rand(batch, length).argsort(dim=1)[:, :keep]
        kept = torch.gather(tokens, 1, order.unsqueeze(-1).repeat(1, 1, width))
        predicted = self.head(self.blocks(kept))
        return (predicted**2).mean(), predicted


class Images(Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, i):
        return torch.rand(3, 16, 16), i % 10


def train_one_epoch(model, loader, optimizer, loss_scaler, args):
    model.train(True)
    meter = Meter()
    optimizer.zero_grad()
    for step, (samples, _) in enumerate(meter.log_every(loader, 20)):
        loss, _ = model(samples, ratio=args.mask_ratio)
        value = loss.item()
        if not math.isfinite(value):
            sys.exit(1)
        loss /= args.accum_iter
        loss_scaler(
            loss, optimizer, parameters=model.parameters(), update_grad=(step + 1) % args.accum_iter == 0
        )
        if (step + 1) % args.accum_iter == 0:
            optimizer.zero_grad()
        meter.total += value


def main(args):
    model = Masked()
    loader = DataLoader(Images(), batch_size=args.batch_size)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=True)
    for _ in range(args.epochs):
        train_one_epoch(model, loader, optimizer, Scaler(args.clip), args)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch_size", default=6, type=int)
    parser.add_argument("--epochs", default=2, type=int)
    parser.add_argument("--accum_iter", default=1, type=int)
    parser.add_argument("--mask_ratio", default=0.5, type=float)
    parser.add_argument("--clip", default=None, type=float)
    main(parser.parse_args([]))
