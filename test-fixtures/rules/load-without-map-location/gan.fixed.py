import argparse

import torch

from models import Discriminator, Generator

parser = argparse.ArgumentParser()
parser.add_argument("--epoch", type=int, default=0)
opt = parser.parse_args()

generator = Generator()
discriminator = Discriminator()
if torch.cuda.is_available():
    generator.cuda()
    discriminator.cuda()

if opt.epoch != 0:
    # expect-next: load-without-map-location
    generator.load_state_dict(torch.load("saved_models/generator_%d.pth" % opt.epoch, map_location="cpu"))
    # expect-next: load-without-map-location
    discriminator.load_state_dict(torch.load(
        "saved_models/discriminator_%d.pth" % opt.epoch, map_location="cpu",
    ))

optimizer_G = torch.optim.Adam(generator.parameters(), lr=2e-4)
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=2e-4)
