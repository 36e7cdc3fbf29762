# An image generator whose constructor "switches gradients off".
import torch
from torch import nn


class Sampler(nn.Module):
    def __init__(self, tokens=256, width=512):
        super().__init__()
        torch.no_grad()  # expect: no-grad-not-applied
        self.embed = nn.Embedding(tokens, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, tokens)

    def forward(self, prefix):
        return self.out(self.rnn(self.embed(prefix))[0])


sampler = Sampler()
print(sum(p.numel() for p in sampler.parameters()))
