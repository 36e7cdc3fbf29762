# "When resuming from a checkpoint too much GPU memory is used": three models from one dictionary that main keeps.
# https://github.com/rosinality/stylegan2-pytorch/pull/31
import argparse

import torch
from torch import nn, optim
from torch.nn import functional as F


def train(args, loader, generator, discriminator, g_optim, d_optim, g_ema, device):
    for i in range(args.iter):
        real_img = next(loader).to(device)
        noise = torch.randn(args.batch, 512, device=device)
        d_loss = F.softplus(-discriminator(real_img)).mean() + F.softplus(discriminator(generator(noise).detach())).mean()
        discriminator.zero_grad()
        d_loss.backward()
        d_optim.step()

        g_loss = F.softplus(-discriminator(generator(noise))).mean()
        generator.zero_grad()
        g_loss.backward()
        g_optim.step()


if __name__ == "__main__":
    device = "cuda"
    parser = argparse.ArgumentParser()
    parser.add_argument("--iter", type=int, default=800000)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--ckpt", type=str, default=None)
    args = parser.parse_args()

    generator = nn.Sequential(nn.Linear(512, 4096), nn.LeakyReLU(0.2), nn.Linear(4096, 3 * 64 * 64)).to(device)
    g_ema = nn.Sequential(nn.Linear(512, 4096), nn.LeakyReLU(0.2), nn.Linear(4096, 3 * 64 * 64)).to(device)
    discriminator = nn.Sequential(nn.Linear(3 * 64 * 64, 4096), nn.LeakyReLU(0.2), nn.Linear(4096, 1)).to(device)
    g_optim = optim.Adam(generator.parameters(), lr=0.002)
    d_optim = optim.Adam(discriminator.parameters(), lr=0.002)

    if args.ckpt is not None:
        print("load model:", args.ckpt)
        ckpt = torch.load(args.ckpt)  # expect: load-without-map-location
        generator.load_state_dict(ckpt["g"])
        discriminator.load_state_dict(ckpt["d"])
        g_ema.load_state_dict(ckpt["g_ema"])
        g_optim.load_state_dict(ckpt["g_optim"])
        d_optim.load_state_dict(ckpt["d_optim"])

    loader = iter(torch.utils.data.DataLoader(torch.randn(50000, 3 * 64 * 64), batch_size=args.batch))
    train(args, loader, generator, discriminator, g_optim, d_optim, g_ema, device)
