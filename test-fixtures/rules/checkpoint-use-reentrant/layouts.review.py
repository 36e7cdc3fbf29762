import torch.utils.checkpoint
import torch.utils.checkpoint as cp
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.Sequential(*[nn.Sequential(nn.Linear(8, 8), nn.GELU()) for _ in range(4)])
        self.head = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 2))

    def forward(self, x, *masks):
        x = torch.utils.checkpoint.checkpoint_sequential(self.stages, 2, x, use_reentrant=False)  # expect: checkpoint-use-reentrant
        x = cp.checkpoint(  # expect: checkpoint-use-reentrant
            self.run,
            (x),
            *masks,
        )
        return cp.checkpoint(self.head, x, preserve_rng_state=True)  # expect: checkpoint-use-reentrant

    def run(self, x, *masks):
        return x.sin().cos()
