# Gradient penalty whose graph is kept although only one backward follows.
import torch


def penalty(critic, real, fake):
    alpha = torch.rand(real.size(0), 1, device=real.device)
    mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    score = critic(mixed).sum()
    score.backward(create_graph=True)  # expect: create-graph-in-backward
    return ((mixed.grad.norm(2, dim=1) - 1) ** 2).mean()


def train(critic, generator, loader):
    critic, generator = critic.cuda(), generator.cuda()
    optimizer = torch.optim.Adam(critic.parameters())
    for real in loader:
        real = real.cuda()
        fake = generator(torch.randn(len(real), 64).cuda()).detach()
        optimizer.zero_grad()
        loss = critic(fake).mean() - critic(real).mean() + 10 * penalty(critic, real, fake)
        loss.backward()
        optimizer.step()
