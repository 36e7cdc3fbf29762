import torch
from torchvision.models import resnet18

model = resnet18().cuda().eval()
loader = torch.utils.data.DataLoader([torch.randn(3, 224, 224)], batch_size=32)
ys = torch.empty(0, 1000)

with torch.no_grad():
    for images in loader:
        y = model(images.cuda())
        ys = torch.cat([ys, y.cpu()])  # expect: cat-in-loop
