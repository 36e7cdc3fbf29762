# vram: device=8GiB, budget=4GiB, optimizer=adam, precision=fp32, batch=4, input=float32[B,3,32,32], target=float32[B,1], loss=bce_with_logits, model=Discriminator()
import torch, torch.nn as nn
from torch.nn.utils import spectral_norm

class Discriminator(nn.Module):
    def __init__(self, ndf=32):
        super().__init__()
        def block(i, o, s):
            return [spectral_norm(nn.Conv2d(i, o, 4, s, 1)), nn.LeakyReLU(0.1, inplace=True)]
        self.main = nn.Sequential(*block(3, ndf, 2), *block(ndf, ndf * 2, 2), *block(ndf * 2, ndf * 4, 2))
        self.fc = spectral_norm(nn.Linear(ndf * 4 * 4 * 4, 1))
    def forward(self, x):
        x = self.main(x)
        return self.fc(x.view(x.size(0), -1))
