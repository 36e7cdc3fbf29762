import itertools

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Unpaired(Dataset):
    def __len__(self):
        return 10

    def __getitem__(self, i):
        return {"A": torch.rand(3, 32, 32), "B": torch.rand(3, 32, 32)}


class ResidualBlock(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.block = nn.Sequential(
            nn.ReflectionPad2d(1), nn.Conv2d(dim, dim, 3), nn.InstanceNorm2d(dim), nn.ReLU(inplace=True),
            nn.ReflectionPad2d(1), nn.Conv2d(dim, dim, 3), nn.InstanceNorm2d(dim),
        )

    def forward(self, x):
        return x + self.block(x)


class Generator(nn.Module):
    def __init__(self, dim=8, blocks=2):
        super().__init__()
        model = [nn.ReflectionPad2d(3), nn.Conv2d(3, dim, 7), nn.InstanceNorm2d(dim), nn.ReLU(inplace=True)]
        model += [nn.Conv2d(dim, dim * 2, 3, stride=2, padding=1), nn.InstanceNorm2d(dim * 2), nn.ReLU(inplace=True)]
        model += [ResidualBlock(dim * 2) for _ in range(blocks)]
        model += [nn.ConvTranspose2d(dim * 2, dim, 3, stride=2, padding=1, output_padding=1), nn.InstanceNorm2d(dim), nn.ReLU(inplace=True)]
        model += [nn.ReflectionPad2d(3), nn.Conv2d(dim, 3, 7), nn.Tanh()]
        self.model = nn.Sequential(*model)

    def forward(self, x):
        return self.model(x)


class Discriminator(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.model = nn.Sequential(
            nn.Conv2d(3, dim, 4, stride=2, padding=1), nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(dim, dim * 2, 4, stride=2, padding=1), nn.InstanceNorm2d(dim * 2), nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(dim * 2, 1, 4, padding=1),
        )

    def forward(self, x):
        return self.model(x)


def set_requires_grad(nets, requires_grad=False):
    for net in nets:
        for param in net.parameters():
            param.requires_grad = requires_grad


class CycleGAN:
    def __init__(self, device):
        self.device = device
        self.netG_A, self.netG_B = Generator().to(device), Generator().to(device)
        self.netD_A, self.netD_B = Discriminator().to(device), Discriminator().to(device)
        self.criterionGAN, self.criterionCycle, self.criterionIdt = nn.MSELoss(), nn.L1Loss(), nn.L1Loss()
        self.optimizer_G = torch.optim.Adam(
            itertools.chain(self.netG_A.parameters(), self.netG_B.parameters()), lr=2e-4, betas=(0.5, 0.999)
        )
        self.optimizer_D = torch.optim.Adam(
            itertools.chain(self.netD_A.parameters(), self.netD_B.parameters()), lr=2e-4, betas=(0.5, 0.999)
        )

    def set_input(self, batch):
        self.real_A = batch["A"].to(self.device)
        self.real_B = batch["B"].to(self.device)

    def forward(self):
        self.fake_B = self.netG_A(self.real_A)
        self.rec_A = self.netG_B(self.fake_B)
        self.fake_A = self.netG_B(self.real_B)
        self.rec_B = self.netG_A(self.fake_A)

    def gan_loss(self, prediction, is_real):
        target = torch.ones_like(prediction) if is_real else torch.zeros_like(prediction)
        return self.criterionGAN(prediction, target)

    def backward_D(self, net, real, fake):
        loss_real = self.gan_loss(net(real), True)
        loss_fake = self.gan_loss(net(fake.detach()), False)
        loss = (loss_real + loss_fake) * 0.5
        loss.backward()
        return loss

    def backward_G(self):
        self.loss_idt = self.criterionIdt(self.netG_A(self.real_B), self.real_B) * 5.0
        self.loss_G_A = self.gan_loss(self.netD_A(self.fake_B), True)
        self.loss_G_B = self.gan_loss(self.netD_B(self.fake_A), True)
        self.loss_cycle_A = self.criterionCycle(self.rec_A, self.real_A) * 10.0
        self.loss_cycle_B = self.criterionCycle(self.rec_B, self.real_B) * 10.0
        self.loss_G = self.loss_G_A + self.loss_G_B + self.loss_cycle_A + self.loss_cycle_B + self.loss_idt
        self.loss_G.backward()

    def optimize_parameters(self):
        self.forward()
        set_requires_grad([self.netD_A, self.netD_B], False)
        self.optimizer_G.zero_grad()
        self.backward_G()
        self.optimizer_G.step()
        set_requires_grad([self.netD_A, self.netD_B], True)
        self.optimizer_D.zero_grad()
        self.loss_D_A = self.backward_D(self.netD_A, self.real_B, self.fake_B)
        self.loss_D_B = self.backward_D(self.netD_B, self.real_A, self.fake_A)
        self.optimizer_D.step()


if __name__ == "__main__":
    loader = DataLoader(Unpaired(), batch_size=2)
    model = CycleGAN(torch.device("cpu"))
    for epoch in range(1):
        for step, batch in enumerate(loader):
            model.set_input(batch)
            model.optimize_parameters()
