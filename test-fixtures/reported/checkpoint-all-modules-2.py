# A small linear layer in a wrapper: its input is as large as what the segment drops.
import torch
from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(128, 128, batch_first=True)
        self.proj = checkpoint_wrapper(nn.Linear(128, 32))  # expect: checkpoint-all-modules

    def forward(self, x):
        return self.proj(self.rnn(x)[0])


tagger = Tagger()
optimizer = torch.optim.Adam(tagger.parameters())
for x in torch.randn(100, 8, 50, 128):
    optimizer.zero_grad()
    tagger(x).logsumexp(-1).mean().backward()
    optimizer.step()
