"""Reported, but the fix would have to touch what the rule does not understand."""
import torch
from torch.cuda.amp import autocast, custom_fwd

settings = {"enabled": True}
options = [True]


class Square(torch.autograd.Function):
    @staticmethod
    @custom_fwd
    def forward(ctx, x):
        return x * x


with autocast(**settings):  # expect: deprecated-amp
    print(Square.apply(torch.ones(2)))

with torch.autocast("cuda", dtype=torch.bfloat16):
    with torch.cuda.amp.autocast():  # expect: deprecated-amp
        print(torch.ones(2) @ torch.ones(2))

with torch.cuda.amp.autocast(*options):  # expect: deprecated-amp
    print(torch.ones(2) @ torch.ones(2))
