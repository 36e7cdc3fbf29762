import torch
import torch.utils.checkpoint as cp
from torch import nn


class DenseLayer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1 = nn.BatchNorm2d(width)
        self.relu1 = nn.ReLU(inplace=True)
        self.conv1 = nn.Conv2d(width, width, kernel_size=1)

    def bn_function(self, inputs):
        return self.conv1(self.relu1(self.norm1(torch.cat(inputs, 1))))

    def call_checkpoint(self, inputs):
        def closure(*inputs):
            return self.bn_function(inputs)

        return cp.checkpoint(closure, *inputs, use_reentrant=False)  # expect: checkpoint-side-effects


class DenseNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = DenseLayer(8)
        for m in self.modules():
            if isinstance(m, nn.BatchNorm2d):
                nn.init.constant_(m.weight, 1)
