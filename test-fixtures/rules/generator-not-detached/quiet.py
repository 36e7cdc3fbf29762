"""Detached, made without gradients, trained by this very step, or one pass for both steps."""
import torch
from torch import nn

from project import set_requires_grad

generator = nn.Linear(100, 784).cuda()
discriminator = nn.Linear(784, 1).cuda()
encoder = nn.Linear(784, 100).cuda()
optimizer_g = torch.optim.Adam(generator.parameters())
optimizer_d = torch.optim.Adam(discriminator.parameters())
both = torch.optim.Adam([{"params": generator.parameters()}, {"params": encoder.parameters()}])
criterion = nn.BCEWithLogitsLoss()


def detached(loader):
    for real, valid, fake in loader:
        images = generator(torch.randn(64, 100).cuda())
        with torch.no_grad():
            others = generator(torch.randn(64, 100).cuda())
        loss_d = criterion(discriminator(images.detach()), fake) + criterion(discriminator(others), fake)
        optimizer_d.zero_grad()
        loss_d.backward()
        optimizer_d.step()
        loss_g = criterion(discriminator(images), valid)
        optimizer_g.zero_grad()
        loss_g.backward()
        optimizer_g.step()


def one_step_for_both(loader):
    for real, valid, fake in loader:
        loss = criterion(discriminator(generator(torch.randn(64, 100).cuda())), valid)
        optimizer_d.zero_grad()
        optimizer_g.zero_grad()
        loss.backward()
        optimizer_d.step()
        optimizer_g.step()


def steps_at_the_end(loader):
    for real, valid, fake in loader:
        images = generator(torch.randn(64, 100).cuda())
        loss_d = criterion(discriminator(images.detach()), fake)
        loss_d.backward()
        loss_g = criterion(discriminator(images), valid)
        loss_g.backward()
        optimizer_d.step()
        optimizer_g.step()
        optimizer_d.zero_grad()
        optimizer_g.zero_grad()


def autoencoder(loader):
    for real, valid, fake in loader:
        restored = generator(encoder(real))
        loss = nn.functional.mse_loss(restored, real)
        both.zero_grad()
        loss.backward()
        both.step()
        loss_d = criterion(discriminator(restored.detach()), fake)
        optimizer_d.zero_grad()
        loss_d.backward()
        optimizer_d.step()


def one_pass_for_both(loader):
    for real, valid, fake in loader:
        images = generator(torch.randn(64, 100).cuda())
        score = discriminator(images)
        loss_d = criterion(score, fake)
        loss_g = criterion(score, valid)
        optimizer_d.zero_grad()
        loss_d.backward(retain_graph=True)
        optimizer_g.zero_grad()
        loss_g.backward()
        optimizer_d.step()
        optimizer_g.step()
