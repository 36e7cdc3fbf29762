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


class Imported:
    """Both models are made elsewhere, with settings that they share."""

    def __init__(self, settings, loader):
        from project import Discriminator as D
        from project import Generator as G

        self.image_size = settings.image_size
        self.G = G(self.image_size, settings.width).cuda()
        self.D = D(self.image_size, settings.width).cuda()
        self.g_optimizer = torch.optim.Adam(filter(lambda p: p.requires_grad, self.G.parameters()), 1e-4)
        self.d_optimizer = torch.optim.Adam(filter(lambda p: p.requires_grad, self.D.parameters()), 4e-4)
        self.loader = loader

    def train(self):
        for real in self.loader:
            fake, _ = self.G(torch.randn(real.size(0), 128).cuda())
            score, _ = self.D(fake)  # expect: generator-not-detached
            d_loss = torch.nn.ReLU()(1.0 + score).mean()
            self.d_optimizer.zero_grad()
            d_loss.backward()
            self.d_optimizer.step()
            fake, _ = self.G(torch.randn(real.size(0), 128).cuda())
            score, _ = self.D(fake)
            g_loss = -score.mean()
            self.g_optimizer.zero_grad()
            g_loss.backward()
            self.g_optimizer.step()
