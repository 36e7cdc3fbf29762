import time

import torch
from torchvision import models

model = models.resnet50().cuda().eval()
x = torch.randn(8, 3, 224, 224, device="cuda")

with torch.no_grad():
    start = time.time()
    out = model(x)
    elapsed = time.time() - start  # expect: timing-without-synchronize
print(elapsed)
