# vram: device=8GiB, budget=4GiB, optimizer=adam, precision=fp32, batch=4, input=float32[B,32], target=int64[B]<5, loss=cross_entropy, model=Net()
import torch, torch.nn as nn
import torch.nn.utils.parametrize as parametrize
from functools import partial

class Symmetric(nn.Module):
    def forward(self, X):
        return X.triu() + X.triu(1).transpose(-1, -2)

class LoRAParametrization(nn.Module):
    def __init__(self, fan_in, fan_out, rank=4, alpha=1.0):
        super().__init__()
        self.lora_A = nn.Parameter(torch.zeros(rank, fan_in))
        self.lora_B = nn.Parameter(torch.zeros(fan_out, rank))
        self.scaling = alpha / rank
    @classmethod
    def from_linear(cls, layer, rank=4):
        fan_out, fan_in = layer.weight.shape
        return cls(fan_in, fan_out, rank)
    def forward(self, X):
        return X + torch.matmul(self.lora_B, self.lora_A).view(X.shape) * self.scaling

def add_lora(model):
    for m in model.modules():
        if isinstance(m, nn.Linear) and not parametrize.is_parametrized(m, "weight"):
            parametrize.register_parametrization(m, "weight", LoRAParametrization.from_linear(m))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(32, 32)
        parametrize.register_parametrization(self.a, "weight", Symmetric())
        self.mlp = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 5))
        add_lora(self.mlp)
        for n, p in self.mlp.named_parameters():
            if 'lora' not in n:
                p.requires_grad_(False)
    def forward(self, x):
        return self.mlp(torch.relu(self.a(x)))
