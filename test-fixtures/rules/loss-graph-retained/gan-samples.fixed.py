import argparse

import torch as th
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=20)
parser.add_argument("--latent", type=int, default=64)
parser.add_argument("--device", default="cuda")
args = parser.parse_args()

netG = nn.Sequential(nn.Linear(args.latent, 256), nn.ReLU(), nn.Linear(256, 784), nn.Tanh()).to(args.device)
netD = nn.Sequential(nn.Linear(784, 256), nn.LeakyReLU(0.2), nn.Linear(256, 1)).to(args.device)
opt_g = th.optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))
opt_d = th.optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
loader = DataLoader(TensorDataset(th.load("digits.pt", map_location="cpu")), batch_size=128, shuffle=True)
fixed_noise = th.randn(64, args.latent, device=args.device)
samples = []

step = 0
for epoch in range(args.epochs):
    for (real,) in loader:
        real = real.to(args.device)
        ones = th.ones(real.size(0), 1, device=args.device)
        zeros = th.zeros(real.size(0), 1, device=args.device)
        fake = netG(th.randn(real.size(0), args.latent, device=args.device))

        opt_d.zero_grad()
        d_loss = bce(netD(real), ones) + bce(netD(fake.detach()), zeros)
        d_loss.backward()
        opt_d.step()

        opt_g.zero_grad()
        g_loss = bce(netD(fake), ones)
        g_loss.backward()
        opt_g.step()

        if step % 200 == 0:
            # pictures for the animation
            samples.append(netG(fixed_noise).detach())  # expect: loss-graph-retained
        step += 1

th.save(th.stack(samples).cpu(), "samples.pt")
