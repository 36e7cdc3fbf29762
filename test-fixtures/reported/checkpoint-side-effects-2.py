# Form of https://github.com/gpleiss/efficient_densenet_pytorch/issues/73: the bottleneck of a dense layer is recomputed.
import torch
import torch.nn as nn
import torch.utils.checkpoint as cp


def _bn_function_factory(norm, relu, conv):
    def bn_function(*inputs):
        return conv(relu(norm(torch.cat(inputs, 1))))

    return bn_function


class _DenseLayer(nn.Module):
    def __init__(self, num_input_features, growth_rate, bn_size, efficient=False):
        super().__init__()
        self.norm1 = nn.BatchNorm2d(num_input_features)
        self.relu1 = nn.ReLU(inplace=True)
        self.conv1 = nn.Conv2d(num_input_features, bn_size * growth_rate, 1, bias=False)
        self.efficient = efficient

    def forward(self, *prev_features):
        bn_function = _bn_function_factory(self.norm1, self.relu1, self.conv1)
        if self.efficient and any(f.requires_grad for f in prev_features):
            # expect-next: checkpoint-side-effects
            return cp.checkpoint(bn_function, *prev_features, use_reentrant=False)
        return bn_function(*prev_features)
