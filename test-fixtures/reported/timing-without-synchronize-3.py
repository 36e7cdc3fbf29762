# Form of https://github.com/NVIDIA-AI-IOT/torch2trt/issues/471: 3 ms are launches, 60 ms the network.
import time

import torch
from torchvision.models import resnet18

backbone = resnet18().eval().cuda()
images = torch.ones((1, 3, 224, 224)).cuda()

start = time.time()
features = backbone(images)  # expect: eval-without-no-grad
end = time.time()  # expect: timing-without-synchronize
print("backbone", end - start)
