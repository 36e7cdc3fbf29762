# vram: device=8GiB, budget=4GiB, optimizer=adam, precision=fp32, batch=4, input=float32[B,10,32], target=float32[B,10,32], loss=mse, model=Net()
"""A linear layer and a layer norm written as autograd.Function; tensors on ctx; needs_input_grad; two outputs."""
import torch, torch.nn as nn
class LinearFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, weight, bias=None):
        ctx.save_for_backward(input, weight, bias)
        output = input.matmul(weight.t())
        if bias is not None:
            output += bias.unsqueeze(0).expand_as(output)
        return output
    @staticmethod
    def backward(ctx, grad_output):
        input, weight, bias = ctx.saved_tensors
        grad_input = grad_weight = grad_bias = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output.matmul(weight)
        if ctx.needs_input_grad[1]:
            grad_weight = grad_output.flatten(0, 1).t().mm(input.flatten(0, 1))
        if bias is not None and ctx.needs_input_grad[2]:
            grad_bias = grad_output.sum((0, 1))
        return grad_input, grad_weight, grad_bias
class MyLinear(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(o, i))
        self.bias = nn.Parameter(torch.empty(o))
        nn.init.uniform_(self.weight, -0.1, 0.1)
    def forward(self, x):
        return LinearFunction.apply(x, self.weight, self.bias)
class LayerNorm2(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, eps):
        ctx.eps = eps
        mu = x.mean(-1, keepdim=True)
        var = (x - mu).pow(2).mean(-1, keepdim=True)
        y = (x - mu) / (var + eps).sqrt()
        ctx.save_for_backward(y, var, weight)
        return weight * y + bias
    @staticmethod
    def backward(ctx, grad_output):
        eps = ctx.eps
        y, var, weight = ctx.saved_tensors
        g = grad_output * weight
        mean_g = g.mean(dim=-1, keepdim=True)
        mean_gy = (g * y).mean(dim=-1, keepdim=True)
        gx = 1. / torch.sqrt(var + eps) * (g - y * mean_gy - mean_g)
        return gx, (grad_output * y).sum(dim=(0, 1)), grad_output.sum(dim=(0, 1)), None
class SplitTwo(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        a, b = x.chunk(2, dim=-1)
        ctx.mask = x > 0
        return a.clone(), b.clone()
    @staticmethod
    def backward(ctx, ga, gb):
        return torch.cat([ga, gb], dim=-1) * ctx.mask
class Net(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.l1, self.l2 = MyLinear(d, 4 * d), MyLinear(2 * d, d)
        self.w, self.b = nn.Parameter(torch.ones(d)), nn.Parameter(torch.zeros(d))
    def forward(self, x):
        h = LayerNorm2.apply(x, self.w, self.b, 1e-5)
        a, g = SplitTwo.apply(self.l1(h))
        return x + self.l2(a * torch.sigmoid(g))
