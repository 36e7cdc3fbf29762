# Splatting: an iteration is one camera; the call stands at the end of the block without gradients.
# https://github.com/graphdeco-inria/gaussian-splatting/issues/85
from random import randint

import torch
from torch import nn
from torch.nn import functional as F


class Gaussians(nn.Module):
    def __init__(self, count=100000):
        super().__init__()
        self._xyz = nn.Parameter(torch.randn(count, 3))
        self._opacity = nn.Parameter(torch.zeros(count, 1))

    def training_setup(self):
        self.optimizer = torch.optim.Adam([self._xyz, self._opacity], lr=0.0, eps=1e-15)


def render(viewpoint_cam, gaussians):
    projected = gaussians._xyz @ viewpoint_cam["rotation"].cuda()
    return (projected * torch.sigmoid(gaussians._opacity)).sum(0)


def training(scene, iterations=30000):
    gaussians = Gaussians().cuda()
    gaussians.training_setup()
    viewpoint_stack = None
    for iteration in range(1, iterations + 1):
        if not viewpoint_stack:
            viewpoint_stack = list(scene)
        viewpoint_cam = viewpoint_stack.pop(randint(0, len(viewpoint_stack) - 1))
        image = render(viewpoint_cam, gaussians)
        loss = F.l1_loss(image, viewpoint_cam["image"].cuda())
        loss.backward()
        with torch.no_grad():
            if iteration % 10 == 0:
                print(loss.item())
            gaussians.optimizer.step()
            gaussians.optimizer.zero_grad(set_to_none=True)
            torch.cuda.empty_cache()  # expect: empty-cache-in-loop
