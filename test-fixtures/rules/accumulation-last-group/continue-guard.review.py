# The remainder as a truth value, from 1, behind a progress bar.
import torch
from torch import nn
from tqdm import tqdm


def train_one_epoch(model, optimizer, loader, args):
    model.train()
    for step, (x, y) in enumerate(tqdm(loader, desc="train"), 1):
        loss = nn.functional.mse_loss(model(x), y)
        (loss / args.accumulation_steps).backward()
        if step % args.accumulation_steps and step < len(loader):  # expect: accumulation-last-group
            continue
        optimizer.step()
        optimizer.zero_grad()


def main(args, loader):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(args.epochs):
        train_one_epoch(model, optimizer, loader, args)
