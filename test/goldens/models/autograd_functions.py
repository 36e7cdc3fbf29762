# vram: device=8GiB, budget=4GiB, optimizer=adam, precision=fp32, batch=8, input=float32[B,1,28,28], target=int64[B]<10, loss=cross_entropy, model=BinaryNet()
import torch, torch.nn as nn, torch.nn.functional as F
from torch.autograd import Function

class BinarizeSTE(Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return input.sign()
    @staticmethod
    def backward(ctx, grad_output):
        input, = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[input.ge(1)] = 0
        grad_input[input.le(-1)] = 0
        return grad_input

class SwishFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, i):
        result = i * torch.sigmoid(i)
        ctx.save_for_backward(i)
        return result
    @staticmethod
    def backward(ctx, grad_output):
        i = ctx.saved_tensors[0]
        sigmoid_i = torch.sigmoid(i)
        return grad_output * (sigmoid_i * (1 + i * (1 - sigmoid_i)))

class GradReverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, lambd):
        ctx.lambd = lambd
        return x.view_as(x)
    @staticmethod
    def backward(ctx, grad):
        return grad.neg() * ctx.lambd, None

class MemoryEfficientSwish(nn.Module):
    def forward(self, x):
        return SwishFn.apply(x)

class BinConv(nn.Conv2d):
    def forward(self, x):
        w = BinarizeSTE.apply(self.weight)
        return F.conv2d(x, w, self.bias, self.stride, self.padding)

class BinaryNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 16, 3, padding=1)
        self.act = MemoryEfficientSwish()
        self.c2 = BinConv(16, 32, 3, padding=1)
        self.bn = nn.BatchNorm2d(32)
        self.fc = nn.Linear(32 * 49, 10)
        self.dom = nn.Linear(32 * 49, 2)
    def forward(self, x):
        x = F.max_pool2d(self.act(self.c1(x)), 2)
        x = F.max_pool2d(BinarizeSTE.apply(self.bn(self.c2(x))), 2)
        x = x.flatten(1)
        d = self.dom(GradReverse.apply(x, 0.5))
        return self.fc(x) + d.sum(dim=1, keepdim=True)
