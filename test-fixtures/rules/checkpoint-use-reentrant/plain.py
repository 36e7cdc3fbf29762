from torch import nn
from torch.utils.checkpoint import checkpoint


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(nn.TransformerEncoderLayer(256, 4) for _ in range(6))

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x)  # expect: checkpoint-use-reentrant
        return x
