import torch
from torch import nn
from torchvision.models import resnet50

model = resnet50().cuda().eval()
loader = torch.utils.data.DataLoader([torch.randn(3, 224, 224) for _ in range(1000)], batch_size=64)

outputs = []
with torch.no_grad():
    for images in loader:
        outputs.append(model(images.cuda()).cpu())  # expect: outputs-kept-on-device
outputs = torch.cat(outputs)
