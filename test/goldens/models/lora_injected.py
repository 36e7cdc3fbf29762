# vram: device=8GiB, budget=4GiB, optimizer=adam, precision=fp32, batch=4, input=float32[B,10,64], target=float32[B,10,64], loss=mse, model=build()
import math
import torch, torch.nn as nn, torch.nn.functional as F

class LoRALinear(nn.Linear):
    def __init__(self, in_features, out_features, r=8, lora_alpha=16, lora_dropout=0.1, **kwargs):
        nn.Linear.__init__(self, in_features, out_features, **kwargs)
        self.r = r
        self.lora_alpha = lora_alpha
        self.lora_dropout = nn.Dropout(p=lora_dropout) if lora_dropout > 0. else lambda x: x
        if r > 0:
            self.lora_A = nn.Parameter(self.weight.new_zeros((r, in_features)))
            self.lora_B = nn.Parameter(self.weight.new_zeros((out_features, r)))
            self.scaling = self.lora_alpha / self.r
            self.weight.requires_grad = False
        self.reset_parameters()
    def reset_parameters(self):
        nn.Linear.reset_parameters(self)
        if hasattr(self, 'lora_A'):
            nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
            nn.init.zeros_(self.lora_B)
    def forward(self, x):
        result = F.linear(x, self.weight, bias=self.bias)
        result += (self.lora_dropout(x) @ self.lora_A.transpose(0, 1) @ self.lora_B.transpose(0, 1)) * self.scaling
        return result

class MLP(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.fc1 = nn.Linear(d, 4 * d)
        self.act = nn.GELU()
        self.fc2 = nn.Linear(4 * d, d)
        self.norm = nn.LayerNorm(d)
    def forward(self, x):
        return x + self.fc2(self.act(self.fc1(self.norm(x))))

class Net(nn.Module):
    def __init__(self, depth=3, d=64):
        super().__init__()
        self.layers = nn.Sequential(*[MLP(d) for _ in range(depth)])
    def forward(self, x):
        return self.layers(x)

def inject(model, r=4):
    for name, module in model.named_children():
        if isinstance(module, nn.Linear):
            new = LoRALinear(module.in_features, module.out_features, r=r, bias=module.bias is not None)
            new.weight.data = module.weight.data
            if module.bias is not None:
                new.bias.data = module.bias.data
            setattr(model, name, new)
        else:
            inject(module, r)

def mark_only_lora_as_trainable(model, bias='none'):
    for n, p in model.named_parameters():
        if 'lora_' not in n:
            p.requires_grad = False

def build():
    net = Net()
    inject(net)
    mark_only_lora_as_trainable(net)
    return net
