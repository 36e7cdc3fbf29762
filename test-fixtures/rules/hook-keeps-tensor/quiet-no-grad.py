"""Features are extracted without gradients, or once: no graph piles up."""
import torch
from torch import nn
from torchvision.models import resnet18

model = resnet18().cuda().eval()
loader = torch.utils.data.DataLoader([torch.randn(3, 224, 224)], batch_size=32)
features = []
model.avgpool.register_forward_hook(lambda module, args, output: features.append(output))

with torch.no_grad():
    for images in loader:
        model(images.cuda())
    print(model(torch.randn(1, 3, 224, 224).cuda()).shape)
