import torch
from torch import OutOfMemoryError
from torch import nn


class Encoder:
    def __init__(self):
        self.net = nn.Linear(512, 512).cuda()

    def encode(self, texts):
        try:
            return self.net(texts.cuda()).cpu()
        except (OutOfMemoryError, ValueError):
            middle = len(texts) // 2
            return torch.cat([self.encode(texts[:middle]), self.encode(texts[middle:])])  # expect: oom-retry-in-except
