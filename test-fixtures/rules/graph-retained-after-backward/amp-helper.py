import argparse

import torch
from torch.amp import GradScaler, autocast
from torch import nn


def build_parser():
    p = argparse.ArgumentParser(description="Segmentation training")
    p.add_argument("--epochs", default=5, type=int)
    p.add_argument("--lr", default=1e-3, type=float)
    return p


def train_one_batch(net, images, masks, criterion, optimizer, scaler):
    with autocast("cuda"):
        predictions = net(images)
        loss = criterion(predictions, masks)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    return loss


def train(net, batches, args):
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.RMSprop(net.parameters(), lr=args.lr)
    scaler = GradScaler("cuda")
    history = {}
    for epoch in range(args.epochs):
        for number, (images, masks) in enumerate(batches):
            loss = train_one_batch(net, images.cuda(), masks.cuda(), criterion, optimizer, scaler)
            history[epoch, number] = loss  # expect: graph-retained-after-backward
        print("mean loss", sum(history.values()) / len(history))


if __name__ == "__main__":
    unet = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 1, 1)).cuda()
    train(unet, [(torch.rand(2, 3, 64, 64), torch.rand(2, 1, 64, 64).round())] * 50, build_parser().parse_args())
