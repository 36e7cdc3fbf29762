"""The generator's gradients are zeroed, the discriminator's never are."""
import torch
from torch import nn, optim

latent = 32
generator = nn.Sequential(nn.Linear(latent, 128), nn.ReLU(), nn.Linear(128, 2))
discriminator = nn.Sequential(nn.Linear(2, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1))
optimizer_G = optim.Adam(generator.parameters(), lr=2e-4)
optimizer_D = optim.Adam(discriminator.parameters(), lr=2e-4)
criterion = nn.BCEWithLogitsLoss()

for iteration in range(10_000):
    real = torch.randn(256, 2) * 0.1 + torch.tensor([1.0, -1.0])
    ones, zeros = torch.ones(256, 1), torch.zeros(256, 1)
    fake = generator(torch.randn(256, latent))

    d_loss = criterion(discriminator(real), ones) + criterion(discriminator(fake.detach()), zeros)
    d_loss.backward()
    optimizer_D.step()  # expect: missing-zero-grad

    optimizer_G.zero_grad()
    g_loss = criterion(discriminator(fake), ones)
    g_loss.backward()
    optimizer_G.step()
