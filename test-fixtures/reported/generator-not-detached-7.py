# Image translation: the fake goes through a history of images that passes new ones on as they are.
# Form of https://github.com/junyanz/pytorch-CycleGAN-and-pix2pix/issues/916, had the detach() been left out
import itertools
import random

import torch
import torch.nn as nn


class ImagePool:
    def __init__(self, size):
        self.size = size
        self.images = []

    def query(self, image):
        if len(self.images) < self.size:
            self.images.append(image.detach())
            return image
        if random.random() > 0.5:
            index = random.randrange(self.size)
            old = self.images[index]
            self.images[index] = image.detach()
            return old
        return image


def block():
    return nn.Sequential(nn.Conv2d(3, 64, 7, padding=3), nn.ReLU(), nn.Conv2d(64, 3, 7, padding=3))


def train(loader):
    netG_A, netG_B = block().cuda(), block().cuda()
    netD_A = nn.Sequential(nn.Conv2d(3, 64, 4, 2), nn.LeakyReLU(0.2), nn.Conv2d(64, 1, 4)).cuda()
    optimizer_G = torch.optim.Adam(itertools.chain(netG_A.parameters(), netG_B.parameters()), lr=2e-4)
    optimizer_D = torch.optim.Adam(netD_A.parameters(), lr=2e-4)
    criterion = nn.MSELoss()
    cycle = nn.L1Loss()
    pool = ImagePool(50)
    for real_A, real_B in loader:
        real_A, real_B = real_A.cuda(), real_B.cuda()
        fake_B = netG_A(real_A)
        prediction = netD_A(fake_B)
        loss_G = criterion(prediction, torch.ones_like(prediction)) + 10 * cycle(netG_B(fake_B), real_A)
        optimizer_G.zero_grad()
        loss_G.backward()
        optimizer_G.step()

        optimizer_D.zero_grad()
        fake = pool.query(netG_A(real_A))
        pred_fake = netD_A(fake)  # expect: generator-not-detached
        pred_real = netD_A(real_B)
        loss_D = criterion(pred_fake, torch.zeros_like(pred_fake)) + criterion(pred_real, torch.ones_like(pred_real))
        loss_D.backward()
        optimizer_D.step()
