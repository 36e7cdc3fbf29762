"""Loaded under a condition, trained in a function."""
import argparse

import torch
from torch import nn


def train(model, loader, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()


def main(loader, rank):
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume")
    args = parser.parse_args()
    model = nn.Linear(128, 10).cuda(rank)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    start = 0
    if args.resume:
        state = torch.load(args.resume, f"cuda:{rank}")  # expect: checkpoint-kept-alive
        model.load_state_dict(state["model"])
        start = state["epoch"]
    for epoch in range(start, 10):
        train(model, loader, optimizer)
