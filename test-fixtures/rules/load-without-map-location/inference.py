"""Nothing is trained here: a hint only."""
import torch
from torchvision.models import resnet50

net = resnet50().cuda().eval()
net.load_state_dict(torch.load("resnet50.pth"))  # expect: load-without-map-location
with torch.no_grad():
    print(net(torch.randn(1, 3, 224, 224).cuda()))
