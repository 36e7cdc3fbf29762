import torch
from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.act = nn.GELU()
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(self.act(self.up(self.norm(x))))


model = nn.Sequential(*[Block(512) for _ in range(12)]).cuda()
for name, module in list(model.named_modules()):
    for child_name, child in list(module.named_children()):
        setattr(module, child_name, checkpoint_wrapper(child))  # expect: checkpoint-all-modules

optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
for step in range(100):
    x = torch.randn(16, 256, 512, device="cuda")
    optimizer.zero_grad()
    loss = (model(x) - x).pow(2).mean()
    loss.backward()
    optimizer.step()
