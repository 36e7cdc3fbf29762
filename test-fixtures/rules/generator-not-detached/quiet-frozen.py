"""The generator's gradients are switched off for the discriminator's step."""
import torch
from torch import nn

from project import set_requires_grad

generator = nn.Linear(100, 784).cuda()
discriminator = nn.Linear(784, 1).cuda()
optimizer_g = torch.optim.Adam(generator.parameters())
optimizer_d = torch.optim.Adam(discriminator.parameters())

for real in [torch.randn(64, 784)]:
    set_requires_grad(generator, False)
    loss_d = discriminator(generator(torch.randn(64, 100))).mean() - discriminator(real).mean()
    optimizer_d.zero_grad()
    loss_d.backward()
    optimizer_d.step()
    set_requires_grad(generator, True)
    loss_g = -discriminator(generator(torch.randn(64, 100))).mean()
    optimizer_g.zero_grad()
    loss_g.backward()
    optimizer_g.step()


def gradient_of(score, images):
    return torch.autograd.grad(score.sum(), images, create_graph=True)[0]


for real in [torch.randn(64, 784)]:
    # The penalty differentiates with respect to the images: they must carry a graph.
    images = generator(torch.randn(64, 100))
    score = discriminator(images)
    penalty = gradient_of(score, images).pow(2).mean()
    loss_d = score.mean() - discriminator(real).mean() + penalty
    optimizer_d.zero_grad()
    loss_d.backward()
    optimizer_d.step()
    loss_g = -discriminator(generator(torch.randn(64, 100))).mean()
    optimizer_g.zero_grad()
    loss_g.backward()
    optimizer_g.step()
