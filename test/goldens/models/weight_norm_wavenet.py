# vram: device=8GiB, budget=4GiB, optimizer=adam, precision=fp32, batch=4, input=float32[B,1,160], target=float32[B,1,160], loss=l1, model=WaveNet()
import torch, torch.nn as nn
from torch.nn.utils.parametrizations import weight_norm

class WN(nn.Module):
    def __init__(self, c, n_layers=4, k=3):
        super().__init__()
        self.in_layers = nn.ModuleList()
        self.res = nn.ModuleList()
        self.c = c
        for i in range(n_layers):
            d = 2 ** i
            self.in_layers.append(weight_norm(nn.Conv1d(c, 2 * c, k, dilation=d, padding=(k * d - d) // 2), name='weight'))
            self.res.append(weight_norm(nn.Conv1d(c, 2 * c if i < n_layers - 1 else c, 1)))
        self.n_layers = n_layers
    def forward(self, x):
        output = torch.zeros_like(x)
        for i in range(self.n_layers):
            acts = self.in_layers[i](x)
            t, s = acts[:, :self.c, :], acts[:, self.c:, :]
            acts = torch.tanh(t) * torch.sigmoid(s)
            rs = self.res[i](acts)
            if i < self.n_layers - 1:
                x = x + rs[:, :self.c, :]
                output = output + rs[:, self.c:, :]
            else:
                output = output + rs
        return output

class WaveNet(nn.Module):
    def __init__(self, c=16):
        super().__init__()
        self.start = weight_norm(nn.Conv1d(1, c, 1))
        self.wn = WN(c)
        self.end = nn.Conv1d(c, 1, 1)
        self.end.weight.data.zero_()
        self.end.bias.data.zero_()
    def forward(self, x):
        return self.end(self.wn(self.start(x)))
