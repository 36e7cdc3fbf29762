# A layer that is made in forward.
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(512, 512)

    def forward(self, x):
        x = self.body(x)
        head = nn.Linear(512, 10).to(x.device)  # expect: module-built-in-forward
        return head(x)
