import argparse

import torch as th
import torch.distributed.algorithms._checkpoint.checkpoint_wrapper as ac
from torch import nn


def everything(module):
    return True


class Trainer:
    def __init__(self, args):
        self.net = nn.Sequential(
            nn.Conv2d(3, args.width, 3, padding=1), nn.ReLU(), nn.Conv2d(args.width, args.width, 3, padding=1), nn.ReLU()
        )
        if args.checkpoint == "all":
            ac.apply_activation_checkpointing(self.net, check_fn=everything)  # expect: checkpoint-all-modules
        else:
            # expect-next: checkpoint-all-modules
            ac.apply_activation_checkpointing(
                self.net,
                checkpoint_wrapper_fn=ac.checkpoint_wrapper,
                check_fn=lambda m: True,
            )
        self.opt = th.optim.Adam(self.net.parameters())

    def step(self, image):
        self.opt.zero_grad()
        loss = self.net(image).square().mean()
        loss.backward()
        self.opt.step()


parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, default=64)
parser.add_argument("--checkpoint", choices=["all", "some"], default="all")
trainer = Trainer(parser.parse_args())
for _ in range(10):
    trainer.step(th.rand(4, 3, 64, 64))
