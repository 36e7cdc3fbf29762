"""The gradient penalty is taken at mixtures of the images, which lead through the generator; its own step uses them again."""
import torch
from torch import nn

generator = nn.Linear(100, 784).cuda()
critic = nn.Linear(784, 1).cuda()
optimizer_g = torch.optim.Adam(generator.parameters(), lr=2e-4)
optimizer_c = torch.optim.Adam(critic.parameters(), lr=2e-4)
loader = [torch.randn(64, 784) for _ in range(100)]


def slope(net, real, fake):
    mixed = 0.5 * real + 0.5 * fake
    (gradient,) = torch.autograd.grad(net(mixed).sum(), mixed, create_graph=True)
    return (gradient.norm(2, dim=1) - 1).pow(2).mean()


for real in loader:
    real = real.cuda()
    for _ in range(5):
        fake = generator(torch.randn(64, 100).cuda())
        penalty = slope(critic, real, fake)
        loss_c = critic(fake).mean() - critic(real).mean() + 10 * penalty
        optimizer_c.zero_grad()
        loss_c.backward(retain_graph=True)
        optimizer_c.step()
    loss_g = -critic(fake).mean()
    optimizer_g.zero_grad()
    loss_g.backward()
    optimizer_g.step()
