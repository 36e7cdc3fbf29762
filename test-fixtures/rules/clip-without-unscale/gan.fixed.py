"""The discriminator is unscaled, the generator is not."""
import torch
from torch import nn


def train(generator, discriminator, loader):
    scaler = torch.amp.GradScaler("cuda")
    g_optimizer = torch.optim.Adam(generator.parameters())
    d_optimizer = torch.optim.Adam(discriminator.parameters())
    for z in loader:
        d_optimizer.zero_grad()
        with torch.autocast("cuda"):
            d_loss = discriminator(generator(z).detach()).mean()
        scaler.scale(d_loss).backward()
        scaler.unscale_(d_optimizer)
        nn.utils.clip_grad_norm_(discriminator.parameters(), 1.0)
        scaler.step(d_optimizer)
        g_optimizer.zero_grad()
        with torch.autocast("cuda"):
            g_loss = -discriminator(generator(z)).mean()
        scaler.scale(g_loss).backward()
        scaler.unscale_(g_optimizer)
        nn.utils.clip_grad_norm_(generator.parameters(), 1.0)  # expect: clip-without-unscale
        scaler.step(g_optimizer)
        scaler.update()
