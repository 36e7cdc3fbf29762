"""A trainer class with several discriminator steps, models of this file, helpers, two backwards for one step."""
import torch
import torch.nn.functional as F
from torch import nn


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.ConvTranspose2d(100, 64, 4), nn.ReLU(), nn.ConvTranspose2d(64, 3, 4))

    def forward(self, z):
        return torch.tanh(self.main(z))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Conv2d(3, 64, 4), nn.LeakyReLU(0.2), nn.Conv2d(64, 1, 4))

    def forward(self, x):
        return self.main(x).flatten(1).mean(1)


class Trainer:
    def __init__(self, loader):
        self.G = Generator().cuda()
        self.D = Critic().cuda()
        self.G_optimizer = torch.optim.RMSprop(self.G.parameters(), lr=5e-5)
        self.D_optimizer = torch.optim.RMSprop(self.D.parameters(), lr=5e-5)
        self.loader = loader

    def train(self):
        for x in self.loader:
            z = torch.randn(x.size(0), 100, 1, 1).cuda()
            for _ in range(5):
                self.D_optimizer.zero_grad()
                G_ = self.G(z)
                D_fake = self.D(G_)  # expect: generator-not-detached
                D_loss = D_fake.mean() - self.D(x.cuda()).mean()
                D_loss.backward()
                self.D_optimizer.step()
            self.G_optimizer.zero_grad()
            G_loss = -self.D(self.G(z)).mean()
            G_loss.backward()
            self.G_optimizer.step()


def step_of_discriminator(netG, netD, optimizer, real, z):
    optimizer.zero_grad()
    fake = netG(z)
    loss_fake = F.softplus(netD(fake)).mean()  # expect: generator-not-detached
    loss_fake.backward()
    loss_real = F.softplus(-netD(real)).mean()
    loss_real.backward()
    optimizer.step()
    return loss_fake.item() + loss_real.item()


def main(loader):
    netG = Generator().cuda()
    netD = Critic().cuda()
    optimizerG = torch.optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))
    optimizerD = torch.optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
    for real in loader:
        z = torch.randn(64, 100, 1, 1).cuda()
        step_of_discriminator(netG, netD, optimizerD, real, z)
        optimizerG.zero_grad()
        F.softplus(-netD(netG(z))).mean().backward()
        optimizerG.step()
