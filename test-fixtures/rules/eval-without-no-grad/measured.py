"""What is measured beside a forward on made-up data is not what inference takes: gradients are on."""
import torch
from torch import nn

net = nn.Sequential(nn.Conv2d(3, 64, 3), nn.ReLU(), nn.Flatten(), nn.LazyLinear(10)).cuda().eval()
images = torch.randn(16, 3, 224, 224, device="cuda")
out = net(images)  # expect: eval-without-no-grad
print(torch.cuda.max_memory_allocated() / 2**20)
