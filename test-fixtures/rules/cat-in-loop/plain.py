import torch
from torchvision.models import resnet50

model = resnet50().cuda().eval()
loader = torch.utils.data.DataLoader([torch.randn(3, 224, 224)], batch_size=64)

features = torch.empty(0, 1000)
with torch.no_grad():
    for images in loader:
        features = torch.cat([features, model(images.cuda()).cpu()], dim=0)  # expect: cat-in-loop
