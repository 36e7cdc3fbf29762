"""Trains the teacher by itself, so that whoever imports it cannot know when."""
import torch

from .network import Net

trained = Net().cuda()
optimizer = torch.optim.Adam(trained.parameters())


def improve(batches):
    for x in batches:
        optimizer.zero_grad()
        trained(x).square().mean().backward()
        optimizer.step()
