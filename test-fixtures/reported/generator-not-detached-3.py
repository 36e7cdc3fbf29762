# "We should detach the fake image when training D": hinge loss, attributes of a trainer, two resets.
# https://github.com/heykeetae/Self-Attention-GAN/issues/48
import torch
from torch import nn


class Generator(nn.Module):
    def __init__(self, z_dim=128):
        super().__init__()
        self.layers = nn.Sequential(nn.ConvTranspose2d(z_dim, 64, 4), nn.ReLU(), nn.ConvTranspose2d(64, 3, 4, 2))

    def forward(self, z):
        return self.layers(z.view(z.size(0), -1, 1, 1)), None


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 64, 4, 2), nn.LeakyReLU(0.1), nn.Conv2d(64, 1, 4))

    def forward(self, x):
        return self.layers(x).flatten(), None


class Trainer:
    def __init__(self, data_loader):
        self.data_loader = data_loader
        self.G = Generator().cuda()
        self.D = Discriminator().cuda()
        self.g_optimizer = torch.optim.Adam(filter(lambda p: p.requires_grad, self.G.parameters()), 1e-4)
        self.d_optimizer = torch.optim.Adam(filter(lambda p: p.requires_grad, self.D.parameters()), 4e-4)

    def reset_grad(self):
        self.d_optimizer.zero_grad()
        self.g_optimizer.zero_grad()

    def train(self):
        for real_images in self.data_loader:
            d_out_real, _ = self.D(real_images.cuda())
            d_loss_real = torch.nn.ReLU()(1.0 - d_out_real).mean()
            z = torch.randn(real_images.size(0), 128).cuda()
            fake_images, _ = self.G(z)
            d_out_fake, _ = self.D(fake_images)  # expect: generator-not-detached
            d_loss_fake = torch.nn.ReLU()(1.0 + d_out_fake).mean()
            d_loss = d_loss_real + d_loss_fake
            self.reset_grad()
            d_loss.backward()
            self.d_optimizer.step()

            fake_images, _ = self.G(torch.randn(real_images.size(0), 128).cuda())
            g_out_fake, _ = self.D(fake_images)
            g_loss_fake = -g_out_fake.mean()
            self.reset_grad()
            g_loss_fake.backward()
            self.g_optimizer.step()
